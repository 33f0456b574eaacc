      ******************************************************************
      * DCLGEN TABLE(MW.PAYMENT)  LIBRARY(MW.DCLGEN(DCLPAYM))          *
      ******************************************************************
           EXEC SQL DECLARE MW.PAYMENT TABLE
           ( PAYMENT_ID         INTEGER NOT NULL,
             BILL_NUMBER        DECIMAL(10, 0),
             PAID_ON            DATE NOT NULL,
             AMOUNT             DECIMAL(9, 2) NOT NULL,
             PURPOSE            VARCHAR(140) NOT NULL
           ) END-EXEC.
       01  DCLPAYM.
           10  PAYMENT-ID                  PIC S9(9) COMP.
           10  PAY-BILL-NUMBER             PIC S9(10)V COMP-3.
           10  PAID-ON                     PIC X(10).
           10  AMOUNT                      PIC S9(7)V9(2) COMP-3.
           10  PURPOSE.
               49  PURPOSE-LEN             PIC S9(4) COMP.
               49  PURPOSE-TEXT            PIC X(140).
