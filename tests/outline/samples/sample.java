package a.b;

import java.util.*;

/** class Fake { */
@Entity(name = "x")
public final class Foo<T extends Bar> extends Baz implements Qux {
    private static final Map<String, String> M = new HashMap<>() {{ put("a", "{"); }};
    private int x = 1;

    static { init(); }

    @Override
    @SuppressWarnings({"a", "b"})
    public <R> List<R> foo(int a,
                           String b) throws IOException {
        Runnable r = () -> { run(); };
        if (a > 1) { return null; }
        new Thread(new Runnable() {
            public void run() { }
        });
        return """
            class Fake2 {
            """;
    }

    Foo(int a) { this.x = a; }

    enum Color { RED, GREEN { void m() {} }; }

    interface Inner { int get(String a); default void d() {} }
    record P(int a, int b) {}
    abstract int bar(int a);
}
@interface Ann { String value() default "{"; }
