      ******************************************************************
      * MILLWATER COMPANY            METER BILLING            MWB010
      * Checks the readings of the day and sorts them by meter.
      * Readings that cannot be right go to REJECTS with a reason.
      * Ran under the name WTR010 until 1994; the PROCEDURE DIVISION was
      * rewritten then.
      ******************************************************************
       IDENTIFICATION DIVISION.
       PROGRAM-ID. MWB010.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT READING-IN  ASSIGN TO UT-S-READIN
                  ORGANIZATION IS SEQUENTIAL
                  FILE STATUS IS WS-IN-STATUS.
           SELECT READING-OUT ASSIGN TO READOUT
                  FILE STATUS IS WS-OUT-STATUS.
           SELECT REJECTS     ASSIGN TO REJECTS
                  FILE STATUS IS WS-REJ-STATUS.
           SELECT SORT-WORK   ASSIGN TO SORTWK01.
       DATA DIVISION.
       FILE SECTION.
       FD  READING-IN  RECORDING MODE F  RECORD CONTAINS 80 CHARACTERS.
           COPY MWREAD.
       FD  READING-OUT RECORDING MODE F  RECORD CONTAINS 80 CHARACTERS.
       01  OUT-RECORD                      PIC X(80).
       FD  REJECTS     RECORDING MODE F  RECORD CONTAINS 120 CHARACTERS.
       01  REJECT-RECORD.
           05  REJ-READING                 PIC X(80).
           05  REJ-REASON                  PIC X(40).
       SD  SORT-WORK.
       01  SORT-RECORD.
           05  SORT-METER                  PIC X(10).
           05  SORT-DATE                   PIC 9(08).
           05  FILLER                      PIC X(62).
       WORKING-STORAGE SECTION.
       77  WS-PROGRAM-NAME                 PIC X(08) VALUE 'MWB010'.
       01  WS-STATUSES.
           05  WS-IN-STATUS                PIC X(02) VALUE '00'.
           05  WS-OUT-STATUS               PIC X(02) VALUE '00'.
           05  WS-REJ-STATUS               PIC X(02) VALUE '00'.
       01  WS-SWITCHES.
           05  WS-IN-SWITCH                PIC X(01) VALUE 'N'.
               88  NO-MORE-READINGS                  VALUE 'Y'.
           05  WS-SORT-SWITCH              PIC X(01) VALUE 'N'.
               88  NO-MORE-SORTED                    VALUE 'Y'.
           05  WS-READING-SWITCH           PIC X(01).
               88  READING-IS-GOOD                   VALUE 'G'.
               88  READING-IS-BAD                    VALUE 'B'.
       01  WS-COUNTERS COMP.
           05  WS-READ                     PIC S9(08) VALUE 0.
           05  WS-REJECTED                 PIC S9(08) VALUE 0.
           05  WS-WRITTEN                  PIC S9(08) VALUE 0.
       01  WS-CHECK-AREA.
           05  WS-CHECK-NUMBER             PIC X(10).
           05  WS-CHECK-ANSWER             PIC X(01).
               88  CHECK-DIGIT-RIGHT                 VALUE 'Y'.
       COPY MWWABND.
       PROCEDURE DIVISION.
       DECLARATIVES.
       READING-ERROR SECTION.
           USE AFTER STANDARD ERROR PROCEDURE ON READING-IN.
       READING-ERROR-SHOW.
           DISPLAY 'MWB010 CANNOT READ READIN, STATUS ' WS-IN-STATUS.
       REJECT-ERROR SECTION.
           USE AFTER ERROR PROCEDURE ON REJECTS.
       REJECT-ERROR-SHOW.
           DISPLAY 'MWB010 CANNOT WRITE REJECTS, STATUS ' WS-REJ-STATUS.
           MOVE 8 TO RETURN-CODE.
       END DECLARATIVES.
       MAIN-LINE SECTION.
       0000-MAIN.
           SORT SORT-WORK ON ASCENDING KEY SORT-METER SORT-DATE
               INPUT PROCEDURE IS EDIT-READINGS
               OUTPUT PROCEDURE IS WRITE-READINGS
           IF SORT-RETURN NOT = 0
               MOVE 'SORT' TO WS-ABEND-PLACE
               PERFORM 9900-ABEND
           END-IF
           DISPLAY 'MWB010 READ ' WS-READ ' REJECTED ' WS-REJECTED
                   ' WRITTEN ' WS-WRITTEN
           IF WS-REJECTED > 0
               MOVE 4 TO RETURN-CODE
           END-IF
           GOBACK.
      *----------------------------------------------------------------
      * Input of the sort: only good readings are released.
      *----------------------------------------------------------------
       EDIT-READINGS SECTION.
       0100-OPEN.
           OPEN INPUT READING-IN OUTPUT REJECTS
           IF WS-IN-STATUS NOT = '00'
               MOVE 'OPEN READIN' TO WS-ABEND-PLACE
               MOVE WS-IN-STATUS TO WS-ABEND-STATUS
               PERFORM 9900-ABEND
           END-IF.
       0200-LOOP.
           PERFORM 0300-READ
           PERFORM UNTIL NO-MORE-READINGS
               PERFORM 0400-EDIT THRU 0400-EDIT-EXIT
               IF READING-IS-GOOD
                   RELEASE SORT-RECORD FROM MWREAD-RECORD
               ELSE
                   PERFORM 0500-REJECT
               END-IF
               PERFORM 0300-READ OF EDIT-READINGS
           END-PERFORM.
           CLOSE READING-IN REJECTS.
           GO TO 0900-EXIT.
       0300-READ.
           READ READING-IN
               AT END SET NO-MORE-READINGS TO TRUE
               NOT AT END ADD 1 TO WS-READ
           END-READ.
       0400-EDIT.
           SET READING-IS-BAD TO TRUE
           IF NOT RD-KNOWN-TYPE
               MOVE 'UNKNOWN TYPE OF METER' TO REJ-REASON
               GO TO 0400-EDIT-EXIT
           END-IF
           IF RD-INDEX-M3 NOT NUMERIC OR RD-DATE NOT NUMERIC
               MOVE 'INDEX OR DATE IS NO NUMBER' TO REJ-REASON
               GO TO 0400-EDIT-EXIT
           END-IF
           MOVE RD-METER-NUMBER TO WS-CHECK-NUMBER
           CALL 'MWS011' USING WS-CHECK-NUMBER WS-CHECK-ANSWER
           IF NOT CHECK-DIGIT-RIGHT
               MOVE 'CHECK DIGIT IS WRONG' TO REJ-REASON
               GO TO 0400-EDIT-EXIT
           END-IF
           SET READING-IS-GOOD TO TRUE.
       0400-EDIT-EXIT.
           EXIT.
       0500-REJECT.
           MOVE MWREAD-RECORD TO REJ-READING
           WRITE REJECT-RECORD
           ADD 1 TO WS-REJECTED.
       0900-EXIT.
           EXIT.
      *----------------------------------------------------------------
      * Output of the sort. Its paragraphs have the names of those.
      *----------------------------------------------------------------
       WRITE-READINGS SECTION.
       0100-OPEN.
           OPEN OUTPUT READING-OUT.
       0200-LOOP.
           PERFORM 0300-READ OF WRITE-READINGS
           PERFORM UNTIL NO-MORE-SORTED
               WRITE OUT-RECORD FROM SORT-RECORD
               ADD 1 TO WS-WRITTEN
               PERFORM 0300-READ OF WRITE-READINGS
           END-PERFORM
           CLOSE READING-OUT
           GO TO 0900-EXIT.
       0300-READ.
           RETURN SORT-WORK
               AT END SET NO-MORE-SORTED TO TRUE
           END-RETURN.
       0900-EXIT.
           EXIT.
       GIVE-UP SECTION.
           COPY MWPABND.
