      * MWWABND: what the paragraphs of MWPABND speak of.
       01  WS-ABEND-AREA.
           05  WS-ABEND-PLACE              PIC X(20) VALUE SPACES.
           05  WS-ABEND-STATUS             PIC X(02) VALUE SPACES.
           05  WS-ABEND-KEY                PIC X(20) VALUE SPACES.
