      ******************************************************************
      * MWB090 wrote the tapes for the bank until 2009.
      * The member is kept so that nobody gives its name away again.
      * Its successor is MWB040.
      ******************************************************************
