      * mwdates: the parameters of MWS010. The member's name is in
      * lower case; programs say COPY MWDATES.
       01  DATE-AREA.
           05  DATE-FUNCTION               PIC X(04).
               88  DATE-IS-DAYS                      VALUE 'DAYS'.
               88  DATE-IS-VALID                     VALUE 'VALD'.
           05  DATE-FROM                   PIC 9(08).
           05  DATE-TO                     PIC 9(08).
           05  DATE-TO-PARTS REDEFINES DATE-TO.
               10  DATE-TO-YEAR            PIC 9(04).
               10  DATE-TO-MONTH           PIC 9(02).
               10  DATE-TO-DAY             PIC 9(02).
           05  DATE-DAYS                   PIC S9(05) COMP.
           05  DATE-RETURN-CODE            PIC 9(02).
