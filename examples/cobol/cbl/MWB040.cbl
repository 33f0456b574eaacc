      ******************************************************************
      * MILLWATER COMPANY            PAYMENTS                  MWB040
      * Posts the payments that the bank sent to the bills in DB2. What
      * belongs to no bill stays open for the clerks.
      ******************************************************************
       IDENTIFICATION DIVISION.
       PROGRAM-ID. MWB040.
       ENVIRONMENT DIVISION.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       77  WS-PROGRAM-NAME                 PIC X(08) VALUE 'MWB040'.
           EXEC SQL INCLUDE SQLCA END-EXEC.
           EXEC SQL INCLUDE DCLBILL END-EXEC.
           EXEC SQL INCLUDE DCLPAYM END-EXEC.
       01  WS-COUNTERS COMP.
           05  WS-POSTED                   PIC S9(08) VALUE 0.
           05  WS-UNKNOWN                  PIC S9(08) VALUE 0.
           05  WS-SINCE-COMMIT             PIC S9(04) VALUE 0.
       01  WS-COMMIT-EVERY                 PIC S9(04) COMP VALUE 500.
       01  WS-LATE-DAYS                    PIC S9(04) COMP VALUE -1.
       01  WS-REST                         PIC S9(07)V99 COMP-3.
       01  WS-BILL-IND                     PIC S9(04) COMP.
       01  WS-SQL-SHOWN                    PIC -(08)9.
       01  WS-STATEMENT                    PIC X(200).
           EXEC SQL
               DECLARE PAYMENTS CURSOR WITH HOLD FOR
               SELECT PAYMENT_ID, BILL_NUMBER, PAID_ON, AMOUNT
                 FROM MW.PAYMENT
                WHERE POSTED = 'N'
                ORDER BY PAYMENT_ID
           END-EXEC.
       COPY MWWABND.
       PROCEDURE DIVISION.
       0000-MAIN.
           EXEC SQL WHENEVER SQLERROR GO TO 9000-SQL-ERROR END-EXEC
           EXEC SQL OPEN PAYMENTS END-EXEC
           PERFORM 1000-FETCH
           PERFORM UNTIL SQLCODE = +100
               PERFORM 2000-POST
               PERFORM 1000-FETCH
           END-PERFORM
           EXEC SQL CLOSE PAYMENTS END-EXEC
           EXEC SQL COMMIT END-EXEC
           PERFORM 3000-STATISTICS
           DISPLAY 'MWB040 POSTED ' WS-POSTED ' UNKNOWN ' WS-UNKNOWN
           GOBACK.
       1000-FETCH.
           EXEC SQL
               FETCH PAYMENTS
                INTO :PAYMENT-ID, :PAY-BILL-NUMBER:WS-BILL-IND,
                     :PAID-ON, :AMOUNT
           END-EXEC.
       2000-POST.
           IF WS-BILL-IND < 0
               PERFORM 2900-UNKNOWN
           ELSE
               EXEC SQL
                   SELECT OPEN_AMOUNT, STATE
                     INTO :OPEN-AMOUNT, :STATE
                     FROM MW.BILL
                    WHERE BILL_NUMBER = :PAY-BILL-NUMBER
               END-EXEC
               EVALUATE SQLCODE
                   WHEN 0
                       PERFORM 2100-SETTLE
                   WHEN +100
                       PERFORM 2900-UNKNOWN
                   WHEN OTHER
                       GO TO 9000-SQL-ERROR
               END-EVALUATE
           END-IF
           ADD 1 TO WS-SINCE-COMMIT
           IF WS-SINCE-COMMIT >= WS-COMMIT-EVERY
               EXEC SQL COMMIT END-EXEC
               MOVE 0 TO WS-SINCE-COMMIT
           END-IF.
       2100-SETTLE.
           COMPUTE WS-REST = OPEN-AMOUNT - AMOUNT
           IF WS-REST > 0
               MOVE 'P' TO STATE
           ELSE
               MOVE 'S' TO STATE
           END-IF
           EXEC SQL
               UPDATE MW.BILL
                  SET OPEN_AMOUNT = :WS-REST, STATE = :STATE
                WHERE BILL_NUMBER = :PAY-BILL-NUMBER
           END-EXEC
           EXEC SQL
               UPDATE MW.PAYMENT SET POSTED = 'Y'
                WHERE PAYMENT_ID = :PAYMENT-ID
           END-EXEC
           EXEC SQL
               INSERT INTO MW.LEDGER (BILL_NUMBER, PAID_ON, AMOUNT)
               VALUES (:PAY-BILL-NUMBER, :PAID-ON, :AMOUNT)
           END-EXEC
           ADD 1 TO WS-POSTED.
       2900-UNKNOWN.
           EXEC SQL
               INSERT INTO MW.CLERK_TASK (PAYMENT_ID, REASON)
               VALUES (:PAYMENT-ID, 'NO SUCH BILL')
           END-EXEC
           ADD 1 TO WS-UNKNOWN.
       3000-STATISTICS.
           STRING 'DELETE FROM MW.LATE_BILL WHERE DUE_DATE > '
                  'CURRENT DATE' DELIMITED BY SIZE INTO WS-STATEMENT
           EXEC SQL EXECUTE IMMEDIATE :WS-STATEMENT END-EXEC
           EXEC SQL
               CALL MW.REFRESH_LATE(:WS-LATE-DAYS)
           END-EXEC.
       9000-SQL-ERROR.
           EXEC SQL WHENEVER SQLERROR CONTINUE END-EXEC
           MOVE SQLCODE TO WS-SQL-SHOWN
           DISPLAY 'MWB040 SQLCODE ' WS-SQL-SHOWN
           EXEC SQL
               ROLLBACK
           END-EXEC
           .
           MOVE 'SQL' TO WS-ABEND-PLACE
           PERFORM 9900-ABEND.
           COPY MWPABND.
