using System;
namespace A.B
{
    [Serializable]
    public partial class Foo<T> : Bar where T : new()
    {
        public string Name { get; set; } = "{";
        private int x;
        public Foo(int a) : base(a) { }
        [Obsolete("x")]
        public async Task<int> DoAsync(string a, int b = 1)
        {
            var s = @"class Fake { ""quoted"" ";
            return 1;
        }
        public int Sum(int a) => a + 1;
        struct P { }
        enum E { A }
        interface I { void M(int a); }
        public record R(int A);
    }
}
