-- CREATE TABLE fake (
CREATE TABLE a (
  id int, t text DEFAULT 'x; CREATE TABLE y ('
);
/* CREATE VIEW fake2 */
create or replace view v as
  select 1;
CREATE OR REPLACE FUNCTION f(a int) RETURNS int AS $$
BEGIN
  CREATE TABLE t2 (x int);
  RETURN 1;
END;
$$ LANGUAGE plpgsql;
insert into a values (1);
CREATE PROCEDURE p()
BEGIN
  SELECT 1;
  SELECT 2;
END;
GO
CREATE UNIQUE INDEX i ON a (id);
