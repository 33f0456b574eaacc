      *================================================================
      * MWPABND: procedure copybook. How a batch program gives up: the
      * paragraphs stand here, the PERFORMs in the programs.
      *================================================================
       9900-ABEND.
           DISPLAY 'MILLWATER ABEND IN ' WS-PROGRAM-NAME
                   ' AT ' WS-ABEND-PLACE
                   ' STATUS ' WS-ABEND-STATUS
           MOVE 16 TO RETURN-CODE
           PERFORM 9910-ABEND-DUMP THRU 9910-ABEND-DUMP-EXIT.
           STOP RUN.
       9910-ABEND-DUMP.
           IF WS-ABEND-STATUS = '37' OR '39'
               DISPLAY 'CHECK THE DD STATEMENT AND THE RECORD LENGTH'
               GO TO 9910-ABEND-DUMP-EXIT
           END-IF
           DISPLAY 'LAST KEY ' WS-ABEND-KEY.
       9910-ABEND-DUMP-EXIT.
           EXIT.
