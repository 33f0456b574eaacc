
export interface Foo<T> extends Bar {
  a: number
  b(): void
}
export type X = { a: string } | {
  b: number
}
type Y = string
export enum E { A, B }
export abstract class C<T> implements D {
  private readonly x: Map<string, number> = new Map()
  @Input() foo: string
  @Dec({ a: 1 })
  public async bar<T>(a: { b: number }, c?: string): Promise<void> {
    for (const a of b) { }
  }
  baz(): { a: number } {
    return { a: 1 }
  }
}
declare module "foo" {
  export function f(a: string): void;
}
namespace N.M {
  export const g = async <T>(x: T): Promise<T> => {
    return x
  }
}
