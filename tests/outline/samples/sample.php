<html>don't { <?php
namespace App\Models;
use Foo\Bar;
# class Fake {
abstract class User extends Model implements X
{
    use HasFactory;
    const A = 'b{';
    #[Attr]
    public static function find(int $id, array $o = []): ?self
    {
        $s = <<<EOT
class Fake2 {
EOT;
        $f = function ($x) use ($y) { return $x; };
        return null;
    }
    abstract protected function foo();
}
interface I { public function m(); }
trait T { function t() {} }
enum Suit: string { case A = 'a'; }
function helper() { if (true) { } }
?>
<b>function fake3() {</b>
<?php function last() {}
