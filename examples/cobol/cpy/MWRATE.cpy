      * MWRATE: what MWRATE is asked and what it answers. The program
      * of the same name lies in cbl/; COPY means this member.
       01  RATE-AREA.
           05  RATE-CLASS                  PIC X(02).
           05  RATE-DISTRICT               PIC 9(03).
           05  RATE-CONSUMPTION-M3         PIC 9(07).
           05  RATE-DAYS                   PIC 9(03).
           05  RATE-NET                    PIC S9(07)V99 COMP-3.
           05  RATE-TAX                    PIC S9(07)V99 COMP-3.
           05  RATE-STANDING               PIC S9(05)V99 COMP-3.
           05  RATE-RETURN-CODE            PIC 9(02).
               88  RATE-OK                           VALUE 00.
               88  RATE-UNKNOWN-CLASS                VALUE 04.
               88  RATE-UNKNOWN-DISTRICT             VALUE 08.
