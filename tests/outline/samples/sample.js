
import x from 'y'
// function fake() {
/* class Fake {
 */
export default class A extends B {
  constructor(a, {b, c}) { super(a) }
  static async foo(x = `a ${b} {`) {
    if (x) { return 1 }
  }
  get bar() { return /["'{]/.test(this.a) }
  handler = async (e) => {
    const inner = (z) => {
      return z
    }
  }
  #priv() {}
}
const add = (a, b) => a + b
export const Comp = ({ a, b }) => {
  return <div>{a} don't</div>
}
function
 multi(
  a,
  b
) {
  const o = { k: function () { return "}" } }
}
Foo.prototype.bar = function (x) {
}
module.exports.baz = async function named() {
}
describe("x", () => {
  it("y", function () {
  })
})
function after({ a }) { }
