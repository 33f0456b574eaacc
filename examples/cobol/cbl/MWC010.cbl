       CBL CICS('COBOL3'),APOST,LIST
       PROCESS NODYNAM
      ******************************************************************
      * MILLWATER COMPANY         CUSTOMER INQUIRY      MWC010 / MW01
      * Pseudo-conversational: sends the map, ends with RETURN TRANSID,
      * comes back with the COMMAREA.
      ******************************************************************
       IDENTIFICATION DIVISION.
       PROGRAM-ID. MWC010.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  WS-CONSTANTS.
           05  WS-PROGRAM-NAME             PIC X(08) VALUE 'MWC010'.
           05  WS-TRANSACTION              PIC X(04) VALUE 'MW01'.
           05  WS-ENTRY-PROGRAM            PIC X(08) VALUE 'MWC020'.
           05  WS-CUSTOMER-FILE            PIC X(08) VALUE 'CUSTMAST'.
       01  WS-RESP                         PIC S9(08) COMP.
       01  WS-RESP2                        PIC S9(08) COMP.
       01  WS-BALANCE-SHOWN                PIC Z,ZZZ,ZZ9.99-.
       01  WS-COMMAREA.
           COPY 'MWCOMM'
           .
       01  WS-BYE                          PIC X(20) VALUE 'GOOD BYE'.
       COPY MWCUST.
       COPY MWSET1.
       COPY DFHAID.
       COPY DFHBMSCA.
       LINKAGE SECTION.
       01  DFHCOMMAREA.
           05  LK-BYTES OCCURS 1 TO 32767 TIMES
                   DEPENDING ON EIBCALEN   PIC X(01).
       PROCEDURE DIVISION.
       0000-MAIN.
           EXEC CICS HANDLE ABEND
               LABEL(9000-ABEND)
           END-EXEC
           IF EIBCALEN = 0
               PERFORM 1000-FIRST-MAP
           ELSE
               MOVE DFHCOMMAREA (1 : EIBCALEN) TO WS-COMMAREA
               EVALUATE TRUE
                   WHEN EIBAID = DFHPF3
                       PERFORM 8000-LEAVE
                   WHEN EIBAID = DFHPF5 AND CA-ASKED
                       PERFORM 7000-ENTER-READING
                   WHEN EIBAID = DFHENTER
                       PERFORM 2000-ASKED
                   WHEN OTHER
                       MOVE 'PF3 LEAVES, PF5 ENTERS A READING'
                           TO CA-MESSAGE
                       PERFORM 3000-SEND
               END-EVALUATE
           END-IF
           EXEC CICS RETURN
               TRANSID(WS-TRANSACTION)
               COMMAREA(WS-COMMAREA)
               LENGTH(LENGTH OF WS-COMMAREA)
           END-EXEC.
       1000-FIRST-MAP.
           MOVE LOW-VALUES TO MWMAP1O
           MOVE SPACE TO CA-STATE
           EXEC CICS SEND MAP('MWMAP1') MAPSET('MWSET1')
               ERASE
           END-EXEC.
       2000-ASKED.
           EXEC CICS RECEIVE MAP('MWMAP1') MAPSET('MWSET1')
               INTO(MWMAP1I)
               RESP(WS-RESP)
           END-EXEC
           IF WS-RESP NOT = DFHRESP(NORMAL)
               MOVE 'TYPE A CUSTOMER NUMBER' TO CA-MESSAGE
               PERFORM 3000-SEND
           ELSE
               MOVE CUSTI TO CA-CUSTOMER
               PERFORM 2100-READ-CUSTOMER
               PERFORM 3000-SEND
           END-IF.
       2100-READ-CUSTOMER
           .
           MOVE CA-CUSTOMER TO CU-NUMBER
           EXEC CICS READ
               FILE(WS-CUSTOMER-FILE)
               INTO(MWCUST-RECORD)
               RIDFLD(CU-NUMBER)
               RESP(WS-RESP) RESP2(WS-RESP2)
           END-EXEC
           EVALUATE WS-RESP
               WHEN DFHRESP(NORMAL)
                   MOVE CU-NAME TO NAMEO
                   MOVE CU-BALANCE TO WS-BALANCE-SHOWN
                   MOVE WS-BALANCE-SHOWN TO BALO
                   MOVE CU-METER-NUMBER (1) TO CA-METER
                   SET CA-ASKED TO TRUE
                   MOVE SPACES TO CA-MESSAGE
               WHEN DFHRESP(NOTFND)
                   MOVE 'NO SUCH CUSTOMER' TO CA-MESSAGE
               WHEN OTHER
                   PERFORM 9100-FILE-ERROR
           END-EVALUATE.
       3000-SEND.
           MOVE CA-MESSAGE TO MSGO
           EXEC CICS SEND MAP('MWMAP1') MAPSET('MWSET1')
               FROM(MWMAP1O)
               DATAONLY CURSOR
           END-EXEC.
       7000-ENTER-READING.
           MOVE WS-TRANSACTION TO CA-FROM-TRANSACTION
           EXEC CICS XCTL
               PROGRAM(WS-ENTRY-PROGRAM)
               COMMAREA(WS-COMMAREA)
           END-EXEC.
       8000-LEAVE.
           EXEC CICS SEND TEXT FROM(WS-BYE)
               ERASE FREEKB
           END-EXEC
           EXEC CICS RETURN END-EXEC.
       9000-ABEND.
           EXEC CICS ASSIGN ABCODE(CA-FROM-TRANSACTION) END-EXEC
           EXEC CICS WRITEQ TD QUEUE('MWLG')
               FROM(WS-COMMAREA)
           END-EXEC
           EXEC CICS ABEND ABCODE('MW99') NODUMP END-EXEC.
       9100-FILE-ERROR.
           EXEC CICS WRITEQ TD QUEUE('MWLG') FROM(WS-RESP) END-EXEC
           MOVE 'THE CUSTOMER FILE CANNOT BE READ' TO CA-MESSAGE.
