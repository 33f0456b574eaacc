      *================================================================
      * MWREAD: one meter reading as the handheld sends it. 80 bytes.
      *================================================================
       01  MWREAD-RECORD.
           05  RD-METER-NUMBER             PIC X(10).
           05  RD-METER-PARTS REDEFINES RD-METER-NUMBER.
               10  RD-METER-TYPE           PIC X(02).
                   88  RD-DOMESTIC                   VALUE 'DM'.
                   88  RD-BUSINESS                   VALUE 'BM'.
                   88  RD-HYDRANT                    VALUE 'HY'.
                   88  RD-KNOWN-TYPE        VALUES 'DM' 'BM' 'HY'.
               10  RD-METER-SERIAL         PIC 9(07).
               10  RD-METER-CHECK          PIC 9(01).
           05  RD-DATE                     PIC 9(08).
           05  RD-INDEX-M3                 PIC 9(07).
           05  RD-SOURCE                   PIC X(01).
               88  RD-BY-READER                      VALUE 'R'.
               88  RD-BY-CUSTOMER                    VALUE 'C'.
               88  RD-ESTIMATED                      VALUE 'E'.
           05  RD-READER-ID                PIC X(06).
           05  FILLER                      PIC X(48).
