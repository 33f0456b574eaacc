      * MWBILL: one bill of the billing run. :TAG: is the prefix.
       01  :TAG:-BILL-RECORD.
           05  :TAG:-BILL-NUMBER           PIC 9(10).
           05  :TAG:-CUSTOMER              PIC 9(08).
           05  :TAG:-METER                 PIC X(10).
           05  :TAG:-PERIOD-FROM           PIC 9(08).
           05  :TAG:-PERIOD-TO             PIC 9(08).
           05  :TAG:-CONSUMPTION-M3        PIC 9(07).
           05  :TAG:-NET                   PIC S9(07)V99 COMP-3.
           05  :TAG:-TAX                   PIC S9(07)V99 COMP-3.
           05  :TAG:-GROSS                 PIC S9(07)V99 COMP-3.
           05  :TAG:-KIND                  PIC X(01).
               88  :TAG:-IS-REGULAR                  VALUE 'R'.
               88  :TAG:-IS-ESTIMATE                 VALUE 'E'.
               88  :TAG:-IS-CORRECTION               VALUE 'C'.
           05  FILLER                      PIC X(14).
