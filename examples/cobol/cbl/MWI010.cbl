      ******************************************************************
      * MILLWATER COMPANY            ARCHIVE                   MWI010
      * Moves readings older than seven years from the IMS database
      * MWREADDB to the archive and tells the data lake by MQ.
      ******************************************************************
       IDENTIFICATION DIVISION.
       PROGRAM-ID. MWI010.
       ENVIRONMENT DIVISION.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  DLI-FUNCTIONS.
           05  DLI-GU                      PIC X(04) VALUE 'GU  '.
           05  DLI-GHN                     PIC X(04) VALUE 'GHN '.
           05  DLI-DLET                    PIC X(04) VALUE 'DLET'.
           05  DLI-ISRT                    PIC X(04) VALUE 'ISRT'.
       01  METER-SSA                       PIC X(09) VALUE 'METER   '.
       01  READING-SSA.
           05  FILLER                      PIC X(19)
               VALUE 'READING (RDDATE  < '.
           05  SSA-DATE                    PIC 9(08).
           05  FILLER                      PIC X(01) VALUE ')'.
       01  READING-SEGMENT.
           05  SEG-DATE                    PIC 9(08).
           05  SEG-INDEX                   PIC 9(07).
       01  WS-COUNT                        PIC S9(08) COMP VALUE 0.
       01  MQ-HCONN                        PIC S9(09) BINARY.
       01  MQ-HOBJ                         PIC S9(09) BINARY.
       01  MQ-OPTIONS                      PIC S9(09) BINARY VALUE 16.
       01  MQ-LENGTH                       PIC S9(09) BINARY VALUE 15.
       01  MQ-COMPCODE                     PIC S9(09) BINARY.
       01  MQ-REASON                       PIC S9(09) BINARY.
       01  MQ-MANAGER                      PIC X(48) VALUE 'MWQM'.
       01  MQ-OD.
           COPY CMQODV.
       01  MQ-MD.
           COPY CMQMDV.
       01  MQ-PMO.
           COPY CMQPMOV.
       LINKAGE SECTION.
       01  DB-PCB.
           05  PCB-NAME                    PIC X(08).
           05  PCB-LEVEL                   PIC X(02).
           05  PCB-STATUS                  PIC X(02).
               88  PCB-OK                            VALUE SPACES.
               88  PCB-NO-MORE                       VALUE 'GB' 'GE'.
           05  FILLER                      PIC X(32).
       PROCEDURE DIVISION.
           ENTRY 'DLITCBL' USING DB-PCB.
           COMPUTE SSA-DATE =
               FUNCTION NUMVAL (FUNCTION CURRENT-DATE (1:8)) - 70000
           CALL 'MQCONN' USING MQ-MANAGER MQ-HCONN MQ-COMPCODE MQ-REASON
           PERFORM CHECK-MQ
           MOVE 'MW.ARCHIVE.READINGS' TO MQOD-OBJECTNAME
           CALL 'MQOPEN' USING MQ-HCONN MQ-OD MQ-OPTIONS MQ-HOBJ
               MQ-COMPCODE MQ-REASON
           PERFORM CHECK-MQ
           CALL 'CBLTDLI' USING DLI-GU DB-PCB READING-SEGMENT
               METER-SSA READING-SSA
           PERFORM MOVE-ONE UNTIL PCB-NO-MORE
           CALL 'MQCLOSE' USING MQ-HCONN MQ-HOBJ MQ-OPTIONS
               MQ-COMPCODE MQ-REASON
           CALL 'MQDISC' USING MQ-HCONN MQ-COMPCODE MQ-REASON
           DISPLAY 'MWI010 ARCHIVED ' WS-COUNT
           GOBACK.
       MOVE-ONE.
           IF NOT PCB-OK
               DISPLAY 'MWI010 PCB STATUS ' PCB-STATUS
               MOVE 16 TO RETURN-CODE
               GOBACK
           END-IF
           EXEC DLI ISRT USING PCB(2)
               SEGMENT(READING) FROM(READING-SEGMENT)
           END-EXEC
           CALL 'MQPUT' USING MQ-HCONN MQ-HOBJ MQ-MD MQ-PMO MQ-LENGTH
               READING-SEGMENT MQ-COMPCODE MQ-REASON
           PERFORM CHECK-MQ
           CALL 'CBLTDLI' USING DLI-DLET DB-PCB READING-SEGMENT
           ADD 1 TO WS-COUNT
           CALL 'CBLTDLI' USING DLI-GHN DB-PCB READING-SEGMENT
               METER-SSA READING-SSA.
       CHECK-MQ.
           IF MQ-COMPCODE NOT = 0
               DISPLAY 'MWI010 MQ REASON ' MQ-REASON
               MOVE 16 TO RETURN-CODE
               GOBACK
           END-IF.
