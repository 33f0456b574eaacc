"""What do scripts and batch files say about the programs that they run, and about their files?"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from tests.cobol.test_graph import graph_of

from penstock.cobol.estate import kind_of, member
from penstock.cobol.estate.scripts import placed

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.proves("C-16")

PAY = """\
IDENTIFICATION DIVISION.
PROGRAM-ID. PAY01.
ENVIRONMENT DIVISION.
INPUT-OUTPUT SECTION.
FILE-CONTROL.
    SELECT CUST ASSIGN TO CUSTFILE.
    SELECT REPORTED ASSIGN TO "customer-report".
DATA DIVISION.
FILE SECTION.
FD  CUST.
01  C-REC PIC X(80).
FD  REPORTED.
01  O-REC PIC X(80).
PROCEDURE DIVISION.
    OPEN INPUT CUST OUTPUT REPORTED.
    READ CUST.
    WRITE O-REC.
    STOP RUN.
"""


def said(script: str, name: str = "run.sh", others: Mapping[str, str] = {}) -> set[str]:
    """Return what a script adds to the graph of the program: `runs` and `bound to`, each with its certainty and lines of it."""
    scripts = {path: text.encode() for path, text in {name: script, **others}.items()}
    graph = graph_of({"src/pay01.cbl": PAY.encode(), **scripts})
    return {
        f"{edge.source.name} {edge.verb} {edge.target.name} {edge.certainty}"
        f"{''.join(f' {one.line}' for one in edge.citations if one.path == name)}"
        for edge in graph.drawn
        if edge.verb in {"runs", "bound to", "reads", "writes"} and any(one.path == name for one in edge.citations)
    }


STEP = "RUN.PAY01 runs PAY01 is 2"


@pytest.mark.parametrize(
    "command",
    [
        "@cobcrun PAY01",
        "start /wait cobcrun PAY01",
        'start "" /b cobcrun PAY01',
        r"""start "Pay day" "C:\Program Files\cob\cobcrun.exe" PAY01""",
        "cmd /c cobcrun PAY01",
        "if not exist done.txt cobcrun PAY01",
        "if exist cobcrun.exe cobcrun PAY01",
        r"""if "%1"=="x" C:\cob\cobcrun.exe PAY01""",
        "if %A% EQU 1 cobcrun PAY01",
        "if /i %A% == x cobcrun PAY01",
        "if (%1)==() cobcrun PAY01",
        "if errorlevel == 1 cobcrun PAY01",
        "if errorlevel 1 (echo no) else cobcrun PAY01",
        "for /f %%i in (list.txt) do cobcrun PAY01",
    ],
)
def test_a_batch_file_runs_a_program_in_every_way_that_it_may_be_written(command: str) -> None:
    """IF, FOR and START were taken for the end of what is known of their line, and an @ for a part of the name."""
    assert STEP in said(f"@echo off\n{command}\n", "run.bat")


@pytest.mark.parametrize(
    "command",
    [
        "sudo -u batch cobcrun PAY01",
        "nice -n 10 cobcrun PAY01",
        "time -p cobcrun PAY01",
        "timeout 60 cobcrun PAY01",
        "nohup timeout -k 5 1m stdbuf -oL cobcrun PAY01 &",
    ],
)
def test_a_command_that_only_runs_another_is_not_the_program(command: str) -> None:
    """Its own options come before the other, and may have words of their own."""
    assert STEP in said(f"#!/bin/sh\n{command}\n")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("run.bat", "title cobcrun PAY01"),
        ("run.bat", "for %%i in (a b) do echo PAY01"),
        ("run.bat", "if exist cobcrun.exe echo PAY01"),
        ("run.sh", "timeout 5"),
        ("run.sh", "grep -n cobcrun PAY01"),
    ],
)
def test_a_command_that_names_a_program_need_not_run_it(name: str, command: str) -> None:
    """A title, a word of a list, a file that is looked for."""
    assert not said(f"set A=1\n{command}\n", name)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        # A variable that is exported names the file, with DD_, dd_ or alone: the first of these counts.
        (
            "export DD_CUSTFILE=/data/cust.dat\ncobcrun PAY01\n",
            {STEP, "PAY01.CUST bound to /data/cust.dat is 1 2", "RUN.PAY01 reads /data/cust.dat is 1 2"},
        ),
        (
            "CUSTFILE=a1; dd_CUSTFILE=./b1; export CUSTFILE dd_CUSTFILE\ncobcrun PAY01\n",
            {STEP, "PAY01.CUST bound to b1 is 1 2"},
        ),
        ("setenv DD_CUSTFILE b1\nrunit; runcbl -c x.cfg bin/PAY01.acu\n", {STEP, "PAY01.CUST bound to b1 is 1 2"}),
        # One that is only assigned is not passed on, and one in front of a command is passed to that command alone.
        ("DD_CUSTFILE=b1\ncobcrun PAY01\n", {STEP}),
        (":\nDD_CUSTFILE=b1 cobcrun PAY01\n", {STEP, "PAY01.CUST bound to b1 is 2 2"}),
        ("DD_CUSTFILE=b1 true\ncobcrun PAY01\n", {STEP}),
        # Values of other variables are put in place; what is not known of them is a star.
        ("D=/data; export DD_CUSTFILE=${D}/cust\ncobcrun PAY01\n", {STEP, "PAY01.CUST bound to /data/cust is 1 2"}),
        ('export DD_CUSTFILE="$1/cust"\ncobcrun PAY01 # run\n', {STEP, "PAY01.CUST bound to */cust may 1 2"}),
        ("export DD_CUSTFILE=$1\ncobcrun PAY01\n", {STEP}),
        # A condition decides.
        ("[ -f x ] && export DD_CUSTFILE=b1\ncobcrun PAY01\n", {STEP, "PAY01.CUST bound to b1 may 1 2"}),
        (
            "export DD_CUSTFILE=b1; if x; then DD_CUSTFILE=c1; fi\ncobcrun PAY01\n",
            {STEP, "PAY01.CUST bound to b1 may 1 2", "PAY01.CUST bound to c1 may 1 2"},
        ),
        # The file that is run has another name for the program in no source; comments and texts run nothing.
        (
            "export DD_CUSTFILE=b1\nnohup ./bin/pay01 &\n",
            {"RUN.PAY01 runs PAY01 may 2", "PAY01.CUST bound to b1 may 1 2"},
        ),
        ("cat <<END\ncobcrun PAY01\nEND\n# cobcrun PAY01\necho cobcrun PAY01\n", set()),
        ("cat <<A <<-'B-C'\nA\ncobcrun PAY01\nB-C\n", set()),
        ("cat <<\\END\ncobcrun PAY01 \\\nEND\ncobcrun PAY01\n", {"RUN.PAY01 runs PAY01 is 4"}),
        # A string in the same line, a shift and a quoted text begin no text.
        ("cat <<< END\nlet X=1<<3; Y=$((X<<Y))\necho '<<END'\ncobcrun PAY01\n", {"RUN.PAY01 runs PAY01 is 4"}),
        # Many scripts have a function of this name.
        ("export DD_CUSTFILE=b1\nrun PAY01\n", {"RUN.PAY01 runs PAY01 may 2", "PAY01.CUST bound to b1 may 1 2"}),
        ("/usr/bin/find . -name pay01; cobc -x src/pay01.cbl\n", set()),
        # A compiler is not the program of a step, wherever it is installed.
        ("CC=$ACUCOBOL/bin/ccbl32\nexport CUSTFILE=b1\n$CC -o pay01.acu pay01.cbl\n", set()),
        # Switches of the runtime precede the program, and a variable that is unset is no longer passed on.
        ("export CUSTFILE=b1\ncobrun +Q -x $EXE/pay01.gnt\n", {STEP, "PAY01.CUST bound to b1 is 1 2"}),
        ("export CUSTFILE=b1; unset CUSTFILE\ncobcrun PAY01\n", {STEP}),
        ("setenv CUSTFILE b1; unsetenv CUSTFILE\nrtsora bin/PAY01.so\n", {STEP}),
        (
            "export CUSTFILE=b1; if x; then unset CUSTFILE; fi\ncobcrun PAY01\n",
            {STEP, "PAY01.CUST bound to b1 may 1 2"},
        ),
        # The runtime alone tells that it is a script of COBOL.
        ("\nC:\\RM\\RUNCOB85 PAY01 K\n", {STEP}),
        ("\ncobrun32 pay01.int\n", {STEP}),
        # What is in doubt of a variable is in doubt of those that take its value.
        ("[ x ] && D=/d\nexport CUSTFILE=$D/c1; cobcrun PAY01\n", {STEP, "PAY01.CUST bound to /d/c1 may 2 2"}),
        # A program of the estate may be run by its name alone, unless something else certainly has that name.
        (
            "cobc -x src/pay01.cbl\nexport DD_CUSTFILE=b1; pay01 >>log\n",
            {"RUN.PAY01 runs PAY01 may 2", "PAY01.CUST bound to b1 may 2 2"},
        ),
        ("cobc -x src/pay01.cbl\npay01() {\n  true\n}\npay01\n", set()),
        # A file of a script that says nothing else of COBOL counts if it is such a program; a build runs files, too.
        ("# by night\n./pay01 > log\ncat log\n", {"RUN.PAY01 runs PAY01 may 2"}),
        ("./configure --prefix=/usr\n./build\n", set()),
        ("cobc -x src/pay01.cbl\ncase $1 in\nx|pay01) ;;\nesac\nA=(\npay01\n)\n", set()),
        # COB_FILE_PATH is the folder of a file that has no other, unless a variable names that.
        (
            "COB_FILE_PATH=/data DD_CUSTFILE=/x/cust\\\n cobcrun PAY01\n",
            {
                "RUN.PAY01 runs PAY01 is 1",
                "PAY01.CUST bound to /x/cust is 1 1",
                "PAY01.REPORTED bound to /data/customer-report is 1 1",
            },
        ),
        # A name that is written in the program may be replaced by the variable.
        (
            "export \\\n  DD_customer-report=b1\nenv DD_CUSTFILE=b2 cobcrun PAY01\n",
            {"RUN.PAY01 runs PAY01 is 3", "PAY01.CUST bound to b2 is 3 3"},
        ),
    ],
)
def test_a_script_runs_programs_and_names_their_files(script: str, expected: set[str]) -> None:
    """Programs are steps, and exported variables are their DDs, as a runtime reads them."""
    found = said(script)
    assert {one for one in found if " bound to " in one or " runs " in one} == {
        one for one in expected if " bound to " in one or " runs " in one
    }
    assert expected <= found


RUNS, BINDS = "RUN.PAY01 runs PAY01 is 2", "PAY01.CUST bound to /data/c1 {} 2"


@pytest.mark.parametrize(
    ("script", "other", "text", "expected"),
    [
        # The variables of a script that is sourced, and what is made of them afterwards.
        (". ./env.sh\ncobcrun PAY01\n", "env.sh", "export DD_CUSTFILE=/data/c1\n", "is"),
        ("source env.sh\nDD_CUSTFILE=b cobcrun PAY01\n", "env.sh", "export DD_CUSTFILE=/data/c1\n", None),
        (". $(dirname $0)/env.sh\ncobcrun PAY01\n", "env.sh", "D=/data\nexport CUSTFILE=$D/c1\n", "is"),
        (
            'cd /x; . "$(dirname "$0")/../env.ksh"\ncobcrun PAY01\n',
            "env.ksh",
            "D=/data\nexport DD_CUSTFILE=$D/c1\n",
            "is",
        ),
        # A condition decides, in either script; a file of that name elsewhere need not be the one that is meant.
        ("[ -f env.sh ] && . ./env.sh\ncobcrun PAY01\n", "env.sh", "export DD_CUSTFILE=/data/c1\n", "may"),
        (
            ". ./env.sh\ncobcrun PAY01\n",
            "env.sh",
            "export A=b B=c\nif x; then export DD_CUSTFILE=/data/c1; fi\n",
            "may",
        ),
        (". /home/prod/env.sh\ncobcrun PAY01\n", "test/env.sh", "export DD_CUSTFILE=/data/c1\n", "may"),
        # One that runs as a process of its own changes nothing here.
        ("./env.sh\ncobcrun PAY01\n", "env.sh", "export DD_CUSTFILE=/data/c1\n", None),
        (". ./other.sh\ncobcrun PAY01\n", "env.sh", "export DD_CUSTFILE=/data/c1\n", None),
    ],
)
def test_a_script_has_the_variables_of_those_that_it_sources(
    script: str, other: str, text: str, expected: str | None
) -> None:
    """A variable is cited where it is set, in the other script."""
    found = {one for one in said(script, others={other: text}) if "RUN." not in one or " runs PAY01 " in one}
    bound = {BINDS.format(expected)} if expected else {"PAY01.CUST bound to b is 2 2"} & found
    assert found == {RUNS} | bound


def test_scripts_that_source_each_other_end() -> None:
    """Neither is followed within itself, and the last value counts."""
    others = {"a.sh": ". ./run.sh; . ./b.sh\nexport DD_CUSTFILE=a1\n", "b.sh": ". ./a.sh\nexport DD_CUSTFILE=b1\n"}
    assert "PAY01.CUST bound to b1 is 2" in said(". ./a.sh; . ./b.sh\ncobcrun PAY01\n", others=others)
    many = {f"s{at}.sh": f"export DD_A{at}=b\n. ./s{at + 1}.sh\n" for at in range(3_000)}
    assert said(". ./s0.sh\ncobcrun PAY01\n", others=many) == {"RUN.PAY01 runs PAY01 is 2"}


def test_a_batch_file_calls_another_and_runs_a_program_by_its_file() -> None:
    """A called batch file sets the variables of its caller, unless it says that they are its own."""
    text = "cobc -x pay01.cbl\ncall %~dp0setenv\nPAY01.exe\n"
    runs = "RUN.PAY01 runs PAY01 may 3"
    sets = "@echo off\nset DD_CUSTFILE=c1\n"
    assert {runs, "PAY01.CUST bound to c1 may 3"} <= said(text, "run.bat", {"setenv.bat": sets})
    assert not {one for one in said(text, "run.bat", {"setenv.bat": f"setlocal\n{sets}"}) if " bound to " in one}
    assert {runs} == said("cobc -x pay01.cbl\n@for %%f in (PAY01 B) do x\ncall PAY01\n", "run.cmd")


def test_a_batch_file_sets_what_its_programs_open() -> None:
    """Parentheses are around what a condition decides about."""
    text = "@echo off\r\nset DD_CUSTFILE=C:\\data\\cust.dat\r\nif exist x (\r\nset Y=1\r\n)\r\ncobcrun PAY01\r\n"
    assert said(text, "run.bat") == {
        "RUN.PAY01 runs PAY01 is 6",
        "PAY01.CUST bound to C:/data/cust.dat is 2 6",
        "RUN.PAY01 reads C:/data/cust.dat is 2 6",
    }
    assert "PAY01.CUST bound to c1 may 1 2" in said("if x set DD_CUSTFILE=c1\ncobcrun PAY01\n", "run.cmd")


@pytest.mark.parametrize("variable", ["COB_FILE_PATH=/data", "DD_CUSTFILE=/data/CUSTFILE"])
def test_the_variables_of_a_script_are_those_of_called_programs_too(variable: str) -> None:
    """They run in the same process."""
    top = b"IDENTIFICATION DIVISION.\nPROGRAM-ID. TOP.\nPROCEDURE DIVISION.\n    CALL 'PAY01'.\n    STOP RUN.\n"
    pay = PAY.replace("TO CUSTFILE", 'TO "CUSTFILE"')
    script = f"export {variable}\ncobcrun TOP\n"
    drawn = graph_of({"top.cbl": top, "pay01.cbl": pay.encode(), "run.sh": script.encode()}).drawn
    found = {f"{edge.source} {edge.verb} {edge.target} {edge.certainty}" for edge in drawn}
    assert {"PAY01.CUST bound to /data/CUSTFILE is", "RUN.TOP reads /data/CUSTFILE is"} <= found


def test_variables_of_a_shell_of_its_own_are_not_certain_behind_it() -> None:
    """Parentheses are such a shell; those of functions, patterns, tests and lists of csh are none, so what follows is certain."""
    text = "export DD_CUSTFILE=/c1\n(export DD_CUSTFILE=/c2; ls)\ncobcrun PAY01\n"
    found = said(text)
    assert {one.partition(" bound to ")[2] for one in found if " bound to " in one} == {"/c1 may 2 3", "/c2 may 2 3"}
    for plain in (
        "f() {\nls\n}",
        "case $1 in a) ls ;; b) ls ;;\nesac",
        "foreach x (a b)\nend",
        "X=$(date)",
        "L=(a\nb)",
    ):
        assert "PAY01.CUST bound to /cc is 1 2".replace("2", str(plain.count("\n") + 3)) in said(
            f"export DD_CUSTFILE=/cc\n{plain}\ncobcrun PAY01\n"
        )


def test_variables_that_do_not_end_take_linear_time() -> None:
    """Each of these took many seconds when every one was searched for its end."""
    begin = time.process_time()
    for begun in ("${A-", "$("):
        member("run.sh", "script", f'X="{begun * 50_000}"\ncobcrun PAY01\n'.encode())
    assert time.process_time() - begin < 2


def test_scripts_that_are_sourced_again_and_again_take_linear_time() -> None:
    """A batch file is asked once whether it keeps its variables, and a name leads to one script, however many have it."""
    folders = [f"f{at}" for at in range(1_000)]
    sourcing = (("env.sh", b"export A=1\n"), ("run.sh", b". ./env.sh\ncobcrun PAY01\n"))
    members = [member(f"{one}/{name}", "script", b"X=1\n" + text) for one in folders for name, text in sourcing]
    long = [
        member("env.sh", "script", b"set X=1\n" * 5_000),
        member("run.sh", "script", b". ./env.sh\n" * 5_000 + b"cobcrun PAY01\n"),
    ]
    begin = time.process_time()
    assert sum(len(one.jobs) for one in placed([*members, *long], ())) == len(folders) + 1
    assert time.process_time() - begin < 4


def test_only_scripts_that_run_programs_or_name_their_files_belong_to_an_estate() -> None:
    """Any other repository has scripts, too."""
    assert kind_of("run.sh", b"cobcrun PAY01\n") == kind_of("env.csh", b"setenv DD_A b\n") == "script"
    assert kind_of("build.sh", b"make all\n") is None
    # Others may source one that does little but set variables.
    assert kind_of("env.sh", b"# here\nexport DATA=/data\nLOG=$DATA/log\ncd $DATA\n") == "script"
    assert kind_of("env.sh", b"DATA=/data\ncd $DATA\n") is None
    assert kind_of("run.ksh", b"cat <<E\n//A JOB\nE\n") is None
