use std::io;

/// fn fake() {
pub struct Foo<'a> { x: &'a str }
pub struct Unit;
struct Tup(i32, i32);
pub enum E { A, B { x: i32 } }
const MAX: usize = 3;
type Alias = Vec<i32>;
#[derive(Debug)]
pub trait T {
    fn required(&self) -> i32;
    fn provided(&self) -> i32 { 1 }
}
impl<'a> T for Foo<'a> {
    #[inline]
    pub(crate) async unsafe fn run<'b, F>(&'b self, f: F) -> Result<(), io::Error>
    where
        F: Fn(i32) -> i32,
    {
        let c = '{';
        let s = r#"fn fake2() { "#;
        match x { A => {} }
        Ok(())
    }
}
mod tests {
    #[test]
    fn it_works() {}
}
macro_rules! m {
    ($x:expr) => { $x };
}
extern "C" fn ext() {}
