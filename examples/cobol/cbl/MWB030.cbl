000100***************************************************************** BILLREG 
000200* MILLWATER COMPANY      BILL REGISTER            WRITTEN 03/1979 BILLREG 
000300* NOT TO BE CHANGED WITHOUT ASKING MR. HOLLIS.    LAST SEEN 11/86 BILLREG 
000400***************************************************************** BILLREG 
000500 IDENTIFICATION DIVISION.                                         BILLREG 
000600 PROGRAM-ID. MWB030.                                              BILLREG 
000700 AUTHOR. COMPUTER DEPARTMENT.                                     BILLREG 
000800 DATE-WRITTEN. MARCH 1979.                                        BILLREG 
000900 ENVIRONMENT DIVISION.                                            BILLREG 
001000 INPUT-OUTPUT SECTION.                                            BILLREG 
001100 FILE-CONTROL.                                                    BILLREG 
001200     SELECT BILLS    ASSIGN TO UT-S-BILLIN.                       BILLREG 
001300     SELECT REGISTER ASSIGN TO UR-1403-S-PRINT.                   BILLREG 
001400 DATA DIVISION.                                                   BILLREG 
001500 FILE SECTION.                                                    BILLREG 
001600 FD  BILLS  LABEL RECORDS ARE STANDARD.                           BILLREG 
001700     COPY MWBILL REPLACING ==:TAG:== BY ==BI==.                   BILLREG 
001800 FD  REGISTER  LABEL RECORDS ARE OMITTED.                         BILLREG 
001900 01  PRINT-LINE                      PIC X(132).                  BILLREG 
002000 WORKING-STORAGE SECTION.                                         BILLREG 
002100 77  LINE-COUNT                      PIC 99     COMP VALUE 99.    BILLREG 
002200 77  PAGE-COUNT                      PIC 9999   COMP VALUE ZERO.  BILLREG 
002300 77  KIND-NUMBER                     PIC 9      VALUE ZERO.       BILLREG 
002400 77  BLANK-LINES                     PIC 9      VALUE 2.          BILLREG 
002500 77  FIRST-SWITCH                    PIC X      VALUE 'Y'.        BILLREG 
002600 01  HEADING-1.                                                   BILLREG 
002700     05  FILLER  PIC X(20)  VALUE 'MILLWATER COMPANY'.            BILLREG 
002800     05  FILLER  PIC X(20)  VALUE 'BILL REGISTER'.                BILLREG 
002900     05  FILLER  PIC X(05)  VALUE 'PAGE'.                         BILLREG 
003000     05  H1-PAGE PIC ZZZ9.                                        BILLREG 
003100 01  DETAIL-1.                                                    BILLREG 
003200     05  D1-BILL      PIC 9(10).                                  BILLREG 
003300     05  FILLER       PIC XX VALUE SPACES.                        BILLREG 
003400     05  D1-CUSTOMER  PIC 9(08).                                  BILLREG 
003500     05  FILLER       PIC XX VALUE SPACES.                        BILLREG 
003600     05  D1-M3        PIC ZZZ,ZZ9.                                BILLREG 
003700     05  FILLER       PIC XX VALUE SPACES.                        BILLREG 
003800     05  D1-GROSS     PIC Z,ZZZ,ZZ9.99-.                          BILLREG 
003900     05  FILLER       PIC XX VALUE SPACES.                        BILLREG 
004000     05  D1-TEXT      PIC X(20).                                  BILLREG 
004100 01  TOTAL-TABLE.                                                 BILLREG 
004200     05  TOTAL-OF-KIND OCCURS 4 TIMES PIC S9(9)V99 COMP-3.        BILLREG 
004300 01  TOTAL-LINE.                                                  BILLREG 
004400     05  FILLER       PIC X(20) VALUE 'TOTAL OF KIND'.            BILLREG 
004500     05  T1-KIND      PIC 9.                                      BILLREG 
004600     05  T1-GROSS     PIC ZZZ,ZZZ,ZZ9.99-.                        BILLREG 
004700 PROCEDURE DIVISION.                                              BILLREG 
004800 HOUSEKEEPING SECTION 10.                                         BILLREG 
004900     OPEN INPUT BILLS OUTPUT REGISTER.                            BILLREG 
005000     MOVE ZERO TO TOTAL-OF-KIND (1) TOTAL-OF-KIND (2)             BILLREG 
005100         TOTAL-OF-KIND (3) TOTAL-OF-KIND (4).                     BILLREG 
005200 MAIN-LOOP SECTION 10.                                            BILLREG 
005300 050. GO TO 060.                                                  BILLREG 
005400 055. READ BILLS AT END GO TO 300.                                BILLREG 
005500     PERFORM 100 THRU 200.                                        BILLREG 
005600     GO TO 055.                                                   BILLREG 
005700 060.                                                             BILLREG 
005800* The first time 070 goes by way of 080, later straight on.       BILLREG 
005900     ALTER 070 TO PROCEED TO 080.                                 BILLREG 
006000 070.                                                             BILLREG 
006100     GO TO .                                                      BILLREG 
006200 075.                                                             BILLREG 
006300     MOVE 'N' TO FIRST-SWITCH. GO TO 055.                         BILLREG 
006400 080. ALTER 070 TO PROCEED TO 075. GO TO 070.                     BILLREG 
006500 100. IF LINE-COUNT > 55 PERFORM HEADINGS.                        BILLREG 
006600     MOVE BI-BILL-NUMBER TO D1-BILL.                              BILLREG 
006700     MOVE BI-CUSTOMER TO D1-CUSTOMER.                             BILLREG 
006800     MOVE BI-CONSUMPTION-M3 TO D1-M3.                             BILLREG 
006900     MOVE BI-GROSS TO D1-GROSS.                                   BILLREG 
007000     IF BI-IS-REGULAR MOVE 1 TO KIND-NUMBER                       BILLREG 
007100     ELSE IF BI-IS-ESTIMATE MOVE 2 TO KIND-NUMBER                 BILLREG 
007200     ELSE IF BI-IS-CORRECTION MOVE 3 TO KIND-NUMBER               BILLREG 
007300     ELSE MOVE 4 TO KIND-NUMBER.                                  BILLREG 
007400     GO TO 110 120 130 DEPENDING ON KIND-NUMBER.                  BILLREG 
007500     MOVE 'UNKNOWN KIND' TO D1-TEXT. GO TO 150.                   BILLREG 
007600 110. MOVE SPACES TO D1-TEXT. GO TO 150.                          BILLREG 
007700 120. MOVE 'ESTIMATED' TO D1-TEXT. GO TO 150.                     BILLREG 
007800 130. MOVE 'CORRECTION' TO D1-TEXT.                               BILLREG 
007900 150. ADD BI-GROSS TO TOTAL-OF-KIND (KIND-NUMBER).                BILLREG 
008000     WRITE PRINT-LINE FROM DETAIL-1 AFTER ADVANCING 1 LINE.       BILLREG 
008100     ADD 1 TO LINE-COUNT.                                         BILLREG 
008200 200. EXIT.                                                       BILLREG 
008300 300. MOVE 1 TO KIND-NUMBER.                                      BILLREG 
008400     PERFORM 310 4 TIMES.                                         BILLREG 
008500     CLOSE BILLS REGISTER.                                        BILLREG 
008600     STOP RUN.                                                    BILLREG 
008700 310. MOVE KIND-NUMBER TO T1-KIND.                                BILLREG 
008800     MOVE TOTAL-OF-KIND (KIND-NUMBER) TO T1-GROSS.                BILLREG 
008900     WRITE PRINT-LINE FROM TOTAL-LINE AFTER ADVANCING 2 LINES.    BILLREG 
009000     ADD 1 TO KIND-NUMBER.                                        BILLREG 
009100 HEADINGS SECTION 50.                                             BILLREG 
009200     ADD 1 TO PAGE-COUNT.                                         BILLREG 
009300     MOVE PAGE-COUNT TO H1-PAGE.                                  BILLREG 
009400     WRITE PRINT-LINE FROM HEADING-1 AFTER ADVANCING PAGE.        BILLREG 
009500     MOVE SPACES TO PRINT-LINE.                                   BILLREG 
009600     PERFORM SKIP-LINE BLANK-LINES TIMES.                         BILLREG 
009700     MOVE 4 TO LINE-COUNT.                                        BILLREG 
009800 SKIPPING SECTION 50.                                             BILLREG 
009900 SKIP-LINE.                                                       BILLREG 
010000     WRITE PRINT-LINE AFTER ADVANCING 1 LINE.                     BILLREG 
