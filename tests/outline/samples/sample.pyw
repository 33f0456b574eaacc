import os

@decorator(
    "def fake(): pass"
)
class Foo(Base, metaclass=Meta):
    """class Fake:

    def fake(self):
    """

    x = 1

    @property
    async def bar(
        self,  # the self: really
        a: dict[str, int] = {"k": 1},
        *args: int,
    ) -> None:
        def inner(x): return x

        text = f'''
def fake2():
    pass
'''
        if a:
            class Local: pass

        # trailing comment

    # def fake3():
    def last(self): return "#:"


if os:
    def conditional():
        pass
else:
    def conditional(): ...

value = '"""' # """
def after_quotes(a, b): # comment
    return (
1
)
lambda: 0
