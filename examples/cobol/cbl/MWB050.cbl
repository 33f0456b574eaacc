      * MILLWATER: reminders and letters.                      MWB050
      * Came from the purchased package 'Großkunde' in 2001.
       IDENTIFICATION DIVISION.
       PROGRAM-ID. MWB050.
       ENVIRONMENT DIVISION.
       CONFIGURATION SECTION.
       SPECIAL-NAMES.
           DECIMAL-POINT IS COMMA.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT CUSTOMERS ASSIGN TO CUSTMAST
                  ORGANIZATION IS INDEXED ACCESS MODE IS SEQUENTIAL
                  RECORD KEY IS CU-NUMBER FILE STATUS IS WS-STATUS.
           SELECT LETTERS   ASSIGN TO LETTERS.
       DATA DIVISION.
       FILE SECTION.
       FD  CUSTOMERS.
           COPY MWCUST.
       FD  LETTERS.
           COPY MWLETTER OF MWPACK SUPPRESS.
       WORKING-STORAGE SECTION.
       01  WS-STATUS                       PIC X(02).
       01  WS-FEE                          PIC S9(05)V99 VALUE 7,50.
       01  WS-SHOWN                        PIC ZZ.ZZ9,99.
       01  COL                             PIC 9(03) VALUE 1.
       01  TIMESTAMP                       PIC X(26).
       01  WS-GREETING                     PIC X(30)
           VALUE 'Sehr geehrte Kundschaft, grüße'.
       01  WS-XML                          PIC X(200).
       01  WS-END                          PIC X VALUE 'N'.
           88  NO-MORE-CUSTOMERS           VALUE 'Y'.
      /
       PROCEDURE DIVISION.
       MAIN.
           DISPLAY 'PROCEDURE DIVISION. REACHED'
           OPEN INPUT CUSTOMERS OUTPUT LETTERS
           PERFORM UNTIL NO-MORE-CUSTOMERS
               READ CUSTOMERS NEXT
                   AT END SET NO-MORE-CUSTOMERS TO TRUE
                   NOT AT END PERFORM REMIND
               END-READ
           END-PERFORM
           CLOSE CUSTOMERS LETTERS
           GOBACK.
       REMIND.
           IF CU-BALANCE > 0 AND NOT CU-GONE
               PERFORM TRACE-CUSTOMER
               EVALUATE TRUE ALSO CU-BALANCE
                   WHEN CU-NOT-REMINDED ALSO 0,01 THRU 5,00
                       CONTINUE
                   WHEN CU-LAST-WARNING ALSO ANY
                       PERFORM LAST-LETTER
                   WHEN OTHER
                       ADD WS-FEE TO CU-BALANCE
                       PERFORM LETTER
               END-EVALUATE
           END-IF.
      D TRACE-CUSTOMER.
      D    DISPLAY 'REMINDING ' CU-NUMBER.
      Q    LINES WITH Q CAME FROM THE PACKAGE'S OWN EDITOR.
       LETTER.
           MOVE CU-BALANCE TO WS-SHOWN
           MOVE FUNCTION CURRENT-DATE TO TIMESTAMP
           MOVE FUNCTION DISPLAY-OF (FUNCTION NATIONAL-OF (CU-NAME))
               TO LE-NAME
           ADD 1 TO COL
           WRITE LETTER-RECORD.
       LAST-LETTER.
           MOVE '<case><state>L</state></case>' TO WS-XML
           XML PARSE WS-XML PROCESSING PROCEDURE CASE-EVENT
               ON EXCEPTION DISPLAY 'BAD CASE FILE'
           END-XML
           PERFORM LETTER.
       CASE-EVENT.
           IF XML-EVENT = 'CONTENT-CHARACTERS'
               MOVE XML-TEXT TO LE-STATE
           END-IF.