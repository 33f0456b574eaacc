      * MWCOMM: the COMMAREA that the online programs pass on.
           05  CA-FROM-TRANSACTION         PIC X(04).
           05  CA-STATE                    PIC X(01).
               88  CA-FIRST-TIME                     VALUE SPACE.
               88  CA-ASKED                          VALUE 'A'.
               88  CA-CONFIRM                        VALUE 'C'.
           05  CA-CUSTOMER                 PIC 9(08).
           05  CA-METER                    PIC X(10).
           05  CA-INDEX-M3                 PIC 9(07).
           05  CA-MESSAGE                  PIC X(60).
