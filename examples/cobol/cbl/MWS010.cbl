      * MILLWATER: the subroutines of dates and check digits. Three
      * programs in one member, as the linkage editor wants them.
       ID DIVISION.
       PROGRAM-ID. MWS010.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  WS-SHARED IS GLOBAL.
           05  WS-YEAR                     PIC 9(04).
           05  WS-MONTH                    PIC 9(02).
           05  WS-DAY                      PIC 9(02).
           05  WS-DAY-NUMBER               PIC S9(08) COMP.
       01  WS-SHARED-DATE REDEFINES WS-SHARED IS GLOBAL.
           05  WS-DATE-8                   PIC 9(08).
           05  FILLER                      PIC X(04).
       01  WS-NUMBERS.
           05  WS-FIRST-NUMBER             PIC S9(08) COMP.
       LINKAGE SECTION.
           COPY MWDATES.
       PROCEDURE DIVISION USING DATE-AREA.
       MAIN.
           MOVE 0 TO DATE-RETURN-CODE.
           EVALUATE TRUE
               WHEN DATE-IS-DAYS PERFORM DAYS-BETWEEN
               WHEN DATE-IS-VALID PERFORM VALIDITY
               WHEN OTHER MOVE 12 TO DATE-RETURN-CODE
           END-EVALUATE.
           EXIT PROGRAM.
       DAYS-BETWEEN.
           MOVE DATE-FROM TO WS-DATE-8.
           CALL 'DAYNUM'.
           MOVE WS-DAY-NUMBER TO WS-FIRST-NUMBER.
           MOVE DATE-TO TO WS-DATE-8.
           CALL 'DAYNUM'.
           SUBTRACT WS-FIRST-NUMBER FROM WS-DAY-NUMBER
               GIVING DATE-DAYS.
       VALIDITY.
           IF DATE-TO-MONTH < 1 OR > 12 MOVE 4 TO DATE-RETURN-CODE.
           IF DATE-TO-DAY < 1 OR > 31 MOVE 4 TO DATE-RETURN-CODE.
       PROGRAM-ID. DAYNUM IS COMMON.
       PROCEDURE DIVISION.
      * Days since 1 March of the year 0, by the usual sum.
       MAIN.
           IF WS-MONTH < 3
               SUBTRACT 1 FROM WS-YEAR
               ADD 12 TO WS-MONTH.
           COMPUTE WS-DAY-NUMBER = 365 * WS-YEAR
               + FUNCTION INTEGER (WS-YEAR / 4)
               - FUNCTION INTEGER (WS-YEAR / 100)
               + FUNCTION INTEGER (WS-YEAR / 400)
               + FUNCTION INTEGER ((153 * WS-MONTH - 457) / 5)
               + WS-DAY.
           EXIT PROGRAM.
       END PROGRAM DAYNUM.
       END PROGRAM MWS010.
      *
      * The check digit of a meter: weights 7 3 1, modulo 10.
       IDENTIFICATION DIVISION.
       PROGRAM-ID. MWS011.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  WS-SUM                          PIC S9(04) COMP.
       01  WS-IX                           PIC S9(04) COMP.
       01  WS-WEIGHTS                      PIC X(07) VALUE '7317317'.
       01  WS-WEIGHT-TABLE REDEFINES WS-WEIGHTS.
           05  WS-WEIGHT OCCURS 7 TIMES    PIC 9(01).
       01  WS-TENS                         PIC S9(04) COMP.
       LINKAGE SECTION.
       01  LK-METER.
           05  LK-TYPE                     PIC X(02).
           05  LK-DIGIT OCCURS 7 TIMES     PIC 9(01).
           05  LK-CHECK                    PIC 9(01).
       01  LK-ANSWER                       PIC X(01).
       PROCEDURE DIVISION USING LK-METER LK-ANSWER.
       MAIN.
           MOVE 0 TO WS-SUM.
           PERFORM ADD-DIGIT VARYING WS-IX FROM 1 BY 1 UNTIL WS-IX > 7.
           PERFORM ANSWER-IT.
           GOBACK.
      * The online programs come in here: the answer is a return code.
       SECOND-DOOR.
           ENTRY 'MWS012' USING LK-METER.
           MOVE 0 TO WS-SUM.
           PERFORM ADD-DIGIT VARYING WS-IX FROM 1 BY 1 UNTIL WS-IX > 7.
           DIVIDE WS-SUM BY 10 GIVING WS-TENS REMAINDER RETURN-CODE.
           GOBACK.
       ADD-DIGIT. COMPUTE WS-SUM = WS-SUM
               + LK-DIGIT (WS-IX) * WS-WEIGHT (WS-IX).
       ANSWER-IT.
           DIVIDE WS-SUM BY 10 GIVING WS-TENS REMAINDER WS-IX
           IF WS-IX = LK-CHECK MOVE 'Y' TO LK-ANSWER
           ELSE MOVE 'N' TO LK-ANSWER.
       END PROGRAM MWS011.
