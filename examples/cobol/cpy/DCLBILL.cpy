      ******************************************************************
      * DCLGEN TABLE(MW.BILL)  LIBRARY(MW.DCLGEN(DCLBILL))             *
      ******************************************************************
           EXEC SQL DECLARE MW.BILL TABLE
           ( BILL_NUMBER        DECIMAL(10, 0) NOT NULL,
             CUSTOMER           DECIMAL(8, 0) NOT NULL,
             DUE_DATE           DATE NOT NULL,
             GROSS              DECIMAL(9, 2) NOT NULL,
             OPEN_AMOUNT        DECIMAL(9, 2) NOT NULL,
             STATE              CHAR(1) NOT NULL
           ) END-EXEC.
       01  DCLBILL.
           10  BILL-NUMBER                 PIC S9(10)V COMP-3.
           10  CUSTOMER                    PIC S9(8)V COMP-3.
           10  DUE-DATE                    PIC X(10).
           10  GROSS                       PIC S9(7)V9(2) COMP-3.
           10  OPEN-AMOUNT                 PIC S9(7)V9(2) COMP-3.
           10  STATE                       PIC X(1).
