#include <vector>
namespace a { namespace b {
template <typename T, int N = 3>
class Foo : public Bar<T> {
public:
    Foo() : x{1}, y(2) { init(); }
    explicit Foo(int a) noexcept;
    virtual ~Foo() = default;
    int get() const override { return 1'000; }
    bool operator==(const Foo& o) const { return true; }
    int operator()(int x) { return x; }
private:
    enum class E : int { A, B };
    struct In { int z; };
};
template <> void Foo<int>::bar(std::vector<int> v) {
    auto f = [&](int x) { return x; };
    const char* s = R"x(class Fake { )" )x";
}
}}
auto trailing(int a) -> std::vector<int> {
}
union U { int a; float b; };
