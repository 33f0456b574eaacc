       >>SOURCE FORMAT FREE
identification division.
program-id. free-one.
*> fake section.
data division.
working-storage section.
01 a pic x.
procedure division.
main-para.
  display "x
  fake."
  exit.
second-para. stop run.
third section.
p3.
 goback.
end program free-one.
