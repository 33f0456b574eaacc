      *================================================================
      * MWCUST: customer master, VSAM KSDS, key CU-NUMBER. The meters
      * stand at the end: as many as CU-METER-COUNT says.
      *================================================================
       01  MWCUST-RECORD.
           05  CU-NUMBER                   PIC 9(08).
           05  CU-NAME                     PIC X(30).
           COPY MWADDR REPLACING ==:TAG:== BY ==CU==.
           05  CU-TARIFF-CLASS             PIC X(02).
               88  CU-HOUSEHOLD                      VALUE 'H1' 'H2'.
               88  CU-TRADE                          VALUE 'T1' 'T2'.
               88  CU-FARM                           VALUE 'A1'.
               88  CU-PUBLIC                VALUES 'P1' THRU 'P4'.
           05  CU-STATUS                   PIC X(01).
               88  CU-ACTIVE                         VALUE 'A'.
               88  CU-BLOCKED                        VALUE 'B'.
               88  CU-GONE                           VALUE 'G'.
           05  CU-BALANCE                  PIC S9(07)V99 COMP-3.
           05  CU-LAST-BILL-DATE           PIC 9(08).
           05  CU-REMINDER-LEVEL           PIC 9(01).
               88  CU-NOT-REMINDED                   VALUE 0.
               88  CU-LAST-WARNING                   VALUE 3 THRU 9.
           05  CU-METER-COUNT              PIC 9(02) COMP.
           05  CU-METER OCCURS 1 TO 20 TIMES
                   DEPENDING ON CU-METER-COUNT
                   INDEXED BY CU-METER-IX.
               10  CU-METER-NUMBER         PIC X(10).
               10  CU-LAST-INDEX           PIC 9(07).
               10  CU-LAST-DATE            PIC 9(08).
