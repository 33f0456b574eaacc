      * MWADDR: an address below any record. Typed with tabs.
	   05  :TAG:-STREET			   PIC X(30).
	   05  :TAG:-TOWN			   PIC X(24).
	   05  :TAG:-POSTCODE			   PIC X(08).
