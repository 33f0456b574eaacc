      ******************************************************************
      * MILLWATER COMPANY            METER BILLING            MWB020
      * The billing run: for each reading the customer is looked up, the
      * consumption is rated, a bill is written, the master brought up
      * to date.
      ******************************************************************
       IDENTIFICATION DIVISION.
       PROGRAM-ID. MWB020.
       ENVIRONMENT DIVISION.
       CONFIGURATION SECTION.
       SPECIAL-NAMES.
           C01 IS NEW-PAGE.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT READINGS  ASSIGN TO READINGS
                  FILE STATUS IS WS-READ-STATUS.
           SELECT CUSTOMERS ASSIGN TO CUSTMAST
                  ORGANIZATION IS INDEXED
                  ACCESS MODE IS DYNAMIC
                  RECORD KEY IS CU-NUMBER
                  ALTERNATE RECORD KEY IS CU-NAME WITH DUPLICATES
                  FILE STATUS IS WS-CUST-STATUS.
           SELECT METERS    ASSIGN TO METERXRF
                  ORGANIZATION IS RELATIVE
                  ACCESS MODE IS RANDOM
                  RELATIVE KEY IS WS-METER-SLOT
                  FILE STATUS IS WS-METER-STATUS.
           SELECT BILLS     ASSIGN TO BILLOUT
                  FILE STATUS IS WS-BILL-STATUS.
       DATA DIVISION.
       FILE SECTION.
       FD  READINGS.
           COPY MWREAD.
       FD  CUSTOMERS.
           COPY MWCUST.
       FD  METERS.
       01  METER-RECORD.
           05  MT-NUMBER                   PIC X(10).
           05  MT-CUSTOMER                 PIC 9(08).
       FD  BILLS.
           COPY MWBILL REPLACING ==:TAG:== BY ==BO==.
       WORKING-STORAGE SECTION.
       77  WS-PROGRAM-NAME                 PIC X(08) VALUE 'MWB020'.
       78  MAX-METERS                      VALUE 20.
       01  WS-STATUSES.
           05  WS-READ-STATUS              PIC X(02).
           05  WS-CUST-STATUS              PIC X(02).
               88  CUSTOMER-FOUND                    VALUE '00'.
               88  CUSTOMER-MISSING                  VALUE '23'.
           05  WS-METER-STATUS             PIC X(02).
           05  WS-BILL-STATUS              PIC X(02).
       01  WS-METER-SLOT                   PIC 9(07) COMP.
       01  WS-TODAY                        PIC 9(08).
       01  WS-END-SWITCH                   PIC X(01) VALUE 'N'.
           88  NO-MORE-READINGS                      VALUE 'Y'.
       01  WS-RATER                        PIC X(08) VALUE 'MWRATE'.
       01  WS-NEXT-BILL                    PIC 9(10) VALUE 1.
       01  WS-TOTALS.
           05  WS-BILLS                    PIC S9(08) COMP VALUE 0.
           05  WS-REFUSED                  PIC S9(08) COMP VALUE 0.
           05  WS-TOTAL-GROSS              PIC S9(09)V99 COMP-3 VALUE 0.
       01  WS-TOTAL-SHOWN                  PIC ZZZ,ZZZ,ZZ9.99-.
       01  WS-MESSAGES.
           05  MSG-NO-METER                PIC X(40)
               VALUE 'THE METER BELONGS TO NOBODY.  SEE MW-17.'.
           05  MSG-BACKWARDS               PIC X(70)
               VALUE 'THE INDEX IS BELOW THE LAST ONE. THE METER MAY HA
      -              'VE BEEN REPLACED'.
           05  MSG-QUOTED                  PIC X(40)
               VALUE 'THE CUSTOMER''S STATE IS ''*> GONE <*'''.
           05  MSG-STARS                PIC X(04) VALUE X'2A2A2A2A'.
           05  MSG-Z                    PIC X(12) VALUE Z"TO THE END".
       01  WS-WORK.
           05  WS-USED-M3                  PIC S9(07) COMP-3.
           05  WS-LEAK-FACTOR              PIC 9V9(02) VALUE 1.5.
           05  WS-EXPECTED-M3              PIC S9(07)V99 COMP-3.
       01  WS-PERIOD.
           05  WS-PERIOD-FROM              PIC 9(08).
           05  WS-PERIOD-TO                PIC 9(08).
       66  WS-PERIOD-BOTH RENAMES WS-PERIOD-FROM THRU WS-PERIOD-TO.
       COPY MWWABND.
       COPY MWRATE.
       COPY MWDATES.
       REPLACE ==SHOW-ON-LOG== BY ==DISPLAY WS-PROGRAM-NAME ' ' ==.
       LINKAGE SECTION.
       01  PARM-AREA.
           05  PARM-LENGTH                 PIC S9(04) COMP.
           05  PARM-DATE                   PIC 9(08).
       PROCEDURE DIVISION USING PARM-AREA.
           IF PARM-LENGTH = 8
               MOVE PARM-DATE TO WS-TODAY
           ELSE
               ACCEPT WS-TODAY FROM DATE YYYYMMDD
           END-IF.
           PERFORM 1000-OPEN THRU 1000-OPEN-EXIT.
           PERFORM 2000-BILL-ONE THRU 2000-BILL-ONE-EXIT
               UNTIL NO-MORE-READINGS.
           PERFORM END-PROGRAM.
           GOBACK.
       1000-OPEN.
           OPEN INPUT READINGS METERS I-O CUSTOMERS OUTPUT BILLS.
           IF WS-CUST-STATUS NOT = '00'
               MOVE 'OPEN CUSTMAST' TO WS-ABEND-PLACE
               MOVE WS-CUST-STATUS TO WS-ABEND-STATUS
               PERFORM 9900-ABEND.
           PERFORM 1100-READ.
       1000-OPEN-EXIT.
           EXIT.
       1100-READ.
           READ READINGS AT END MOVE 'Y' TO WS-END-SWITCH.
      *----------------------------------------------------------------
      * One reading. The range 2300 THRU 2300-EXIT lies in the range
      * 2000 THRU 2000-EXIT; 2900 is jumped to from several places.
      *----------------------------------------------------------------
       2000-BILL-ONE.
           PERFORM 2100-FIND-CUSTOMER THRU 2100-FIND-CUSTOMER-EXIT
           IF NOT CUSTOMER-FOUND
               SHOW-ON-LOG MSG-NO-METER
               GO TO 2900-REFUSE
           END-IF
           IF CU-GONE
               SHOW-ON-LOG MSG-QUOTED
               GO TO 2900-REFUSE
           END-IF.
       2200-CONSUMPTION.
           COMPUTE WS-USED-M3 =
               RD-INDEX-M3 - CU-LAST-INDEX (CU-METER-IX)
           IF WS-USED-M3 < 0
               SHOW-ON-LOG MSG-BACKWARDS
               GO TO 2900-REFUSE
           END-IF
           COMPUTE WS-EXPECTED-M3 = WS-USED-M3 * WS-LEAK-FACTOR
           PERFORM 2300-RATE THRU 2300-RATE-EXIT.
           GO TO 2800-WRITE.
       2300-RATE.
           MOVE CU-TARIFF-CLASS TO RATE-CLASS
           MOVE 101 TO RATE-DISTRICT
           MOVE WS-USED-M3 TO RATE-CONSUMPTION-M3
           MOVE 'DAYS' TO DATE-FUNCTION
           MOVE CU-LAST-DATE (CU-METER-IX) TO DATE-FROM
           MOVE RD-DATE TO DATE-TO
           CALL 'MWS010' USING DATE-AREA
           MOVE DATE-DAYS TO RATE-DAYS
           CALL WS-RATER USING RATE-AREA
               ON EXCEPTION
                   MOVE 'CALL MWRATE' TO WS-ABEND-PLACE
                   PERFORM 9900-ABEND
           END-CALL
           EVALUATE TRUE
               WHEN RATE-OK
                   CONTINUE
               WHEN RATE-UNKNOWN-CLASS
               WHEN RATE-UNKNOWN-DISTRICT
                   MOVE 0 TO RATE-NET RATE-TAX
                   SHOW-ON-LOG 'NO TARIFF FOR ' CU-NUMBER
               WHEN OTHER
                   MOVE 'RATING' TO WS-ABEND-PLACE
                   MOVE CU-NUMBER TO WS-ABEND-KEY
                   PERFORM 9900-ABEND
           END-EVALUATE.
       2300-RATE-EXIT.
           EXIT.
       2800-WRITE.
           MOVE WS-NEXT-BILL TO BO-BILL-NUMBER
           ADD 1 TO WS-NEXT-BILL
           MOVE CU-NUMBER TO BO-CUSTOMER
           MOVE RD-METER-NUMBER TO BO-METER
           MOVE CU-LAST-DATE (CU-METER-IX) TO BO-PERIOD-FROM
           MOVE RD-DATE TO BO-PERIOD-TO
           MOVE WS-USED-M3 TO BO-CONSUMPTION-M3
           ADD RATE-NET RATE-STANDING GIVING BO-NET
           MOVE RATE-TAX TO BO-TAX
           ADD BO-NET BO-TAX GIVING BO-GROSS
           IF RD-ESTIMATED
               SET BO-IS-ESTIMATE TO TRUE
           ELSE
               SET BO-IS-REGULAR TO TRUE
           END-IF
           WRITE BO-BILL-RECORD
           IF WS-BILL-STATUS NOT = '00'
               MOVE 'WRITE BILLOUT' TO WS-ABEND-PLACE
               MOVE WS-BILL-STATUS TO WS-ABEND-STATUS
               PERFORM 9900-ABEND
           END-IF
           ADD BO-GROSS TO CU-BALANCE WS-TOTAL-GROSS
           ADD 1 TO WS-BILLS
           MOVE RD-INDEX-M3 TO CU-LAST-INDEX (CU-METER-IX)
           MOVE RD-DATE TO CU-LAST-DATE (CU-METER-IX)
           MOVE WS-TODAY TO CU-LAST-BILL-DATE
           REWRITE MWCUST-RECORD
               INVALID KEY PERFORM 2950-LOST-CUSTOMER
           END-REWRITE
           GO TO 2000-BILL-ONE-NEXT.
       2900-REFUSE.
           ADD 1 TO WS-REFUSED.
       2000-BILL-ONE-NEXT.
           PERFORM 1100-READ.
       2000-BILL-ONE-EXIT.
           EXIT.
       2100-FIND-CUSTOMER.
           MOVE RD-METER-SERIAL TO WS-METER-SLOT
           READ METERS INVALID KEY
               MOVE '23' TO WS-CUST-STATUS
               GO TO 2100-FIND-CUSTOMER-EXIT
           END-READ
           MOVE MT-CUSTOMER TO CU-NUMBER
           READ CUSTOMERS
           IF CUSTOMER-FOUND
               SET CU-METER-IX TO 1
               SEARCH CU-METER
                   AT END MOVE '23' TO WS-CUST-STATUS
                   WHEN CU-METER-NUMBER (CU-METER-IX) = RD-METER-NUMBER
                       CONTINUE
               END-SEARCH
           END-IF.
       2100-FIND-CUSTOMER-EXIT.
           EXIT.
       2950-LOST-CUSTOMER.
           MOVE 'REWRITE CUSTMAST' TO WS-ABEND-PLACE
           MOVE CU-NUMBER TO WS-ABEND-KEY
           PERFORM 9900-ABEND.
      * Recalculated what was billed before the tariff reform of 1998.
      * Nothing performs or falls into it any more.
       2960-OLD-TARIFF.
           MULTIPLY CU-BALANCE BY 1.05 GIVING CU-BALANCE ROUNDED
           PERFORM 2970-OLD-TARIFF-LOG.
           STOP RUN.
       2970-OLD-TARIFF-LOG.
           SHOW-ON-LOG 'OLD TARIFF'.
           STOP RUN.
       END-PROGRAM.
           MOVE WS-TOTAL-GROSS TO WS-TOTAL-SHOWN
           DISPLAY 'BILLS ' WS-BILLS ' REFUSED ' WS-REFUSED
                   ' GROSS ' WS-TOTAL-SHOWN
           CLOSE READINGS METERS CUSTOMERS BILLS
           IF WS-REFUSED > 0 MOVE 4 TO RETURN-CODE.
           COPY MWPABND.
