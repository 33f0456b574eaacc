       >>SOURCE FORMAT IS FIXED
      *----------------------------------------------------------------
      * MILLWATER COMPANY            RATING                    MWRATE
      * Generated from the tariff sheets by generate.py. Changes belong
      * there: what is typed here is lost with the next sheet.
      *----------------------------------------------------------------
       IDENTIFICATION DIVISION.
       PROGRAM-ID. MWRATE.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  WS-WORK.
           05  WS-REST-M3              PIC S9(07)V99 COMP-3.
           05  WS-BLOCK-M3             PIC S9(07)V99 COMP-3.
           05  WS-LIMIT-M3             PIC S9(07)V99 COMP-3.
           05  WS-AMOUNT               PIC S9(07)V9(04) COMP-3.
           05  WS-SEWAGE               PIC S9(07)V9(04) COMP-3.
           05  WS-DISCOUNT             PIC S9(07)V9(04) COMP-3.
           05  WS-SURCHARGE            PIC S9(03)V9(04) COMP-3.
           05  WS-TAX-RATE             PIC S9(01)V9(04) COMP-3.
           05  WS-DAYS-OF-YEAR         PIC S9(03) COMP-3.
           05  WS-RELIEFS              PIC S9(03) COMP-3.
       01  WS-SEASON                       PIC X(01).
           88  SEASON-WINTER                         VALUE 'W'.
           88  SEASON-SUMMER                         VALUE 'S'.
       01  WS-TODAY.
           05  WS-YEAR                     PIC 9(04).
           05  WS-MONTH                    PIC 9(02).
           05  WS-DAY                      PIC 9(02).
       01  PRICE-ROWS.
           05  FILLER PIC X(18) VALUE 'H10100000200024100'.
           05  FILLER PIC X(18) VALUE 'H10200000800014600'.
           05  FILLER PIC X(18) VALUE 'H10300001800011433'.
           05  FILLER PIC X(18) VALUE 'H10400003200009850'.
           05  FILLER PIC X(18) VALUE 'H20100000350025200'.
           05  FILLER PIC X(18) VALUE 'H20200001400015700'.
           05  FILLER PIC X(18) VALUE 'H20300003150012533'.
           05  FILLER PIC X(18) VALUE 'H20400005600010950'.
           05  FILLER PIC X(18) VALUE 'H20500008750010000'.
           05  FILLER PIC X(18) VALUE 'H20600012600009367'.
           05  FILLER PIC X(18) VALUE 'T10100000500026300'.
           05  FILLER PIC X(18) VALUE 'T10200002000016800'.
           05  FILLER PIC X(18) VALUE 'T10300004500013633'.
           05  FILLER PIC X(18) VALUE 'T10400008000012050'.
           05  FILLER PIC X(18) VALUE 'T10500012500011100'.
           05  FILLER PIC X(18) VALUE 'T20100000650027400'.
           05  FILLER PIC X(18) VALUE 'T20200002600017900'.
           05  FILLER PIC X(18) VALUE 'T20300005850014733'.
           05  FILLER PIC X(18) VALUE 'T20400010400013150'.
           05  FILLER PIC X(18) VALUE 'T20500016250012200'.
           05  FILLER PIC X(18) VALUE 'T20600023400011567'.
           05  FILLER PIC X(18) VALUE 'T20700031850011114'.
           05  FILLER PIC X(18) VALUE 'T20800041600010775'.
           05  FILLER PIC X(18) VALUE 'T20900052650010511'.
           05  FILLER PIC X(18) VALUE 'A10100000800028500'.
           05  FILLER PIC X(18) VALUE 'A10200003200019000'.
           05  FILLER PIC X(18) VALUE 'A10300007200015833'.
           05  FILLER PIC X(18) VALUE 'A10400012800014250'.
           05  FILLER PIC X(18) VALUE 'A10500020000013300'.
           05  FILLER PIC X(18) VALUE 'A10600028800012667'.
           05  FILLER PIC X(18) VALUE 'A10700039200012214'.
           05  FILLER PIC X(18) VALUE 'P10100000950029600'.
           05  FILLER PIC X(18) VALUE 'P10200003800020100'.
           05  FILLER PIC X(18) VALUE 'P10300008550016933'.
           05  FILLER PIC X(18) VALUE 'P10400015200015350'.
           05  FILLER PIC X(18) VALUE 'P20100001100030700'.
           05  FILLER PIC X(18) VALUE 'P20200004400021200'.
           05  FILLER PIC X(18) VALUE 'P20300009900018033'.
           05  FILLER PIC X(18) VALUE 'P20400017600016450'.
           05  FILLER PIC X(18) VALUE 'P20500027500015500'.
           05  FILLER PIC X(18) VALUE 'P20600039600014867'.
           05  FILLER PIC X(18) VALUE 'P20700053900014414'.
           05  FILLER PIC X(18) VALUE 'P20800070400014075'.
           05  FILLER PIC X(18) VALUE 'P30100001250031800'.
           05  FILLER PIC X(18) VALUE 'P30200005000022300'.
           05  FILLER PIC X(18) VALUE 'P30300011250019133'.
           05  FILLER PIC X(18) VALUE 'P40100001400032900'.
           05  FILLER PIC X(18) VALUE 'P40200005600023400'.
           05  FILLER PIC X(18) VALUE 'P40300012600020233'.
           05  FILLER PIC X(18) VALUE 'P40400022400018650'.
           05  FILLER PIC X(18) VALUE 'P40500035000017700'.
           05  FILLER PIC X(18) VALUE 'P40600050400017067'.
           05  FILLER PIC X(18) VALUE 'N10100001550034000'.
           05  FILLER PIC X(18) VALUE 'N10200006200024500'.
           05  FILLER PIC X(18) VALUE 'N10300013950021333'.
           05  FILLER PIC X(18) VALUE 'N10400024800019750'.
           05  FILLER PIC X(18) VALUE 'N10500038750018800'.
           05  FILLER PIC X(18) VALUE 'N10600055800018167'.
           05  FILLER PIC X(18) VALUE 'N10700075950017714'.
           05  FILLER PIC X(18) VALUE 'N10800099200017375'.
           05  FILLER PIC X(18) VALUE 'N10900125550017111'.
       01  PRICE-TABLE REDEFINES PRICE-ROWS.
           05  PRICE-ROW OCCURS 61 TIMES INDEXED BY PRICE-IX.
               10  PRICE-CLASS             PIC X(02).
               10  PRICE-BLOCK             PIC 9(02).
               10  PRICE-LIMIT-M3          PIC 9(07).
               10  PRICE-PER-M3            PIC 9(03)V9(04).
       01  DISTRICT-ROWS.
      * district 101, sheet 1
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 101.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 1'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 102, sheet 1
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 102.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 1'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 103, sheet 1
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 103.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 1'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 104, sheet 1
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 104.
               10  FILLER PIC X(16) VALUE 'HARBOUR 1'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 105, sheet 1
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 105.
               10  FILLER PIC X(16) VALUE 'HILLS 1'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 106, sheet 1
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 106.
               10  FILLER PIC X(16) VALUE 'MOOR 1'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 107, sheet 1
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 107.
               10  FILLER PIC X(16) VALUE 'MILLS 1'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 108, sheet 1
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 108.
               10  FILLER PIC X(16) VALUE 'STATION 1'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 109, sheet 1
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 109.
               10  FILLER PIC X(16) VALUE 'MEADOWS 1'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 110, sheet 1
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 110.
               10  FILLER PIC X(16) VALUE 'FERRY 1'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 111, sheet 1
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 111.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 2'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 112, sheet 1
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 112.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 2'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 113, sheet 1
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 113.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 2'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 114, sheet 1
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 114.
               10  FILLER PIC X(16) VALUE 'HARBOUR 2'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 115, sheet 1
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 115.
               10  FILLER PIC X(16) VALUE 'HILLS 2'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 116, sheet 1
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 116.
               10  FILLER PIC X(16) VALUE 'MOOR 2'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 117, sheet 1
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 117.
               10  FILLER PIC X(16) VALUE 'MILLS 2'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 118, sheet 1
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 118.
               10  FILLER PIC X(16) VALUE 'STATION 2'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 119, sheet 1
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 119.
               10  FILLER PIC X(16) VALUE 'MEADOWS 2'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 120, sheet 1
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 120.
               10  FILLER PIC X(16) VALUE 'FERRY 2'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 121, sheet 2
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 121.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 3'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 122, sheet 2
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 122.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 3'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 123, sheet 2
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 123.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 3'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 124, sheet 2
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 124.
               10  FILLER PIC X(16) VALUE 'HARBOUR 3'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 125, sheet 2
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 125.
               10  FILLER PIC X(16) VALUE 'HILLS 3'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 126, sheet 2
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 126.
               10  FILLER PIC X(16) VALUE 'MOOR 3'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 127, sheet 2
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 127.
               10  FILLER PIC X(16) VALUE 'MILLS 3'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 128, sheet 2
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 128.
               10  FILLER PIC X(16) VALUE 'STATION 3'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 129, sheet 2
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 129.
               10  FILLER PIC X(16) VALUE 'MEADOWS 3'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 130, sheet 2
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 130.
               10  FILLER PIC X(16) VALUE 'FERRY 3'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 131, sheet 2
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 131.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 4'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 132, sheet 2
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 132.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 4'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 133, sheet 2
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 133.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 4'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 134, sheet 2
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 134.
               10  FILLER PIC X(16) VALUE 'HARBOUR 4'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 135, sheet 2
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 135.
               10  FILLER PIC X(16) VALUE 'HILLS 4'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 136, sheet 2
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 136.
               10  FILLER PIC X(16) VALUE 'MOOR 4'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 137, sheet 2
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 137.
               10  FILLER PIC X(16) VALUE 'MILLS 4'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 138, sheet 2
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 138.
               10  FILLER PIC X(16) VALUE 'STATION 4'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 139, sheet 2
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 139.
               10  FILLER PIC X(16) VALUE 'MEADOWS 4'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 140, sheet 2
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 140.
               10  FILLER PIC X(16) VALUE 'FERRY 4'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 141, sheet 3
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 141.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 5'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 142, sheet 3
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 142.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 5'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 143, sheet 3
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 143.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 5'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 144, sheet 3
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 144.
               10  FILLER PIC X(16) VALUE 'HARBOUR 5'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 145, sheet 3
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 145.
               10  FILLER PIC X(16) VALUE 'HILLS 5'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 146, sheet 3
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 146.
               10  FILLER PIC X(16) VALUE 'MOOR 5'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 147, sheet 3
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 147.
               10  FILLER PIC X(16) VALUE 'MILLS 5'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 148, sheet 3
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 148.
               10  FILLER PIC X(16) VALUE 'STATION 5'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 149, sheet 3
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 149.
               10  FILLER PIC X(16) VALUE 'MEADOWS 5'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 150, sheet 3
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 150.
               10  FILLER PIC X(16) VALUE 'FERRY 5'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 151, sheet 3
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 151.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 6'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 152, sheet 3
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 152.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 6'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 153, sheet 3
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 153.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 6'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 154, sheet 3
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 154.
               10  FILLER PIC X(16) VALUE 'HARBOUR 6'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 155, sheet 3
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 155.
               10  FILLER PIC X(16) VALUE 'HILLS 6'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 156, sheet 3
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 156.
               10  FILLER PIC X(16) VALUE 'MOOR 6'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 157, sheet 3
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 157.
               10  FILLER PIC X(16) VALUE 'MILLS 6'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 158, sheet 3
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 158.
               10  FILLER PIC X(16) VALUE 'STATION 6'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 159, sheet 3
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 159.
               10  FILLER PIC X(16) VALUE 'MEADOWS 6'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 160, sheet 3
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 160.
               10  FILLER PIC X(16) VALUE 'FERRY 6'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 161, sheet 4
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 161.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 7'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 162, sheet 4
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 162.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 7'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 163, sheet 4
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 163.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 7'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 164, sheet 4
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 164.
               10  FILLER PIC X(16) VALUE 'HARBOUR 7'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 165, sheet 4
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 165.
               10  FILLER PIC X(16) VALUE 'HILLS 7'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 166, sheet 4
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 166.
               10  FILLER PIC X(16) VALUE 'MOOR 7'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 167, sheet 4
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 167.
               10  FILLER PIC X(16) VALUE 'MILLS 7'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 168, sheet 4
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 168.
               10  FILLER PIC X(16) VALUE 'STATION 7'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 169, sheet 4
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 169.
               10  FILLER PIC X(16) VALUE 'MEADOWS 7'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 170, sheet 4
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 170.
               10  FILLER PIC X(16) VALUE 'FERRY 7'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 171, sheet 4
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 171.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 8'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 172, sheet 4
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 172.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 8'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 173, sheet 4
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 173.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 8'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 174, sheet 4
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 174.
               10  FILLER PIC X(16) VALUE 'HARBOUR 8'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 175, sheet 4
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 175.
               10  FILLER PIC X(16) VALUE 'HILLS 8'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 176, sheet 4
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 176.
               10  FILLER PIC X(16) VALUE 'MOOR 8'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 177, sheet 4
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 177.
               10  FILLER PIC X(16) VALUE 'MILLS 8'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 178, sheet 4
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 178.
               10  FILLER PIC X(16) VALUE 'STATION 8'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 179, sheet 4
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 179.
               10  FILLER PIC X(16) VALUE 'MEADOWS 8'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 180, sheet 4
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 180.
               10  FILLER PIC X(16) VALUE 'FERRY 8'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 181, sheet 5
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 181.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 9'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 182, sheet 5
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 182.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 9'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 183, sheet 5
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 183.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 9'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 184, sheet 5
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 184.
               10  FILLER PIC X(16) VALUE 'HARBOUR 9'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 185, sheet 5
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 185.
               10  FILLER PIC X(16) VALUE 'HILLS 9'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 186, sheet 5
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 186.
               10  FILLER PIC X(16) VALUE 'MOOR 9'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 187, sheet 5
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 187.
               10  FILLER PIC X(16) VALUE 'MILLS 9'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 188, sheet 5
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 188.
               10  FILLER PIC X(16) VALUE 'STATION 9'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 189, sheet 5
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 189.
               10  FILLER PIC X(16) VALUE 'MEADOWS 9'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 190, sheet 5
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 190.
               10  FILLER PIC X(16) VALUE 'FERRY 9'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 191, sheet 5
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 191.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 10'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 192, sheet 5
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 192.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 10'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 193, sheet 5
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 193.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 10'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 194, sheet 5
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 194.
               10  FILLER PIC X(16) VALUE 'HARBOUR 10'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 195, sheet 5
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 195.
               10  FILLER PIC X(16) VALUE 'HILLS 10'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 196, sheet 5
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 196.
               10  FILLER PIC X(16) VALUE 'MOOR 10'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 197, sheet 5
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 197.
               10  FILLER PIC X(16) VALUE 'MILLS 10'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 198, sheet 5
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 198.
               10  FILLER PIC X(16) VALUE 'STATION 10'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 199, sheet 5
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 199.
               10  FILLER PIC X(16) VALUE 'MEADOWS 10'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 200, sheet 5
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 200.
               10  FILLER PIC X(16) VALUE 'FERRY 10'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 201, sheet 6
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 201.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 11'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 202, sheet 6
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 202.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 11'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 203, sheet 6
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 203.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 11'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 204, sheet 6
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 204.
               10  FILLER PIC X(16) VALUE 'HARBOUR 11'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 205, sheet 6
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 205.
               10  FILLER PIC X(16) VALUE 'HILLS 11'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 206, sheet 6
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 206.
               10  FILLER PIC X(16) VALUE 'MOOR 11'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 207, sheet 6
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 207.
               10  FILLER PIC X(16) VALUE 'MILLS 11'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 208, sheet 6
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 208.
               10  FILLER PIC X(16) VALUE 'STATION 11'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 209, sheet 6
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 209.
               10  FILLER PIC X(16) VALUE 'MEADOWS 11'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 210, sheet 6
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 210.
               10  FILLER PIC X(16) VALUE 'FERRY 11'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 211, sheet 6
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 211.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 12'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 212, sheet 6
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 212.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 12'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 213, sheet 6
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 213.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 12'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 214, sheet 6
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 214.
               10  FILLER PIC X(16) VALUE 'HARBOUR 12'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 215, sheet 6
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 215.
               10  FILLER PIC X(16) VALUE 'HILLS 12'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 216, sheet 6
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 216.
               10  FILLER PIC X(16) VALUE 'MOOR 12'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 217, sheet 6
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 217.
               10  FILLER PIC X(16) VALUE 'MILLS 12'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 218, sheet 6
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 218.
               10  FILLER PIC X(16) VALUE 'STATION 12'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 219, sheet 6
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 219.
               10  FILLER PIC X(16) VALUE 'MEADOWS 12'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 220, sheet 6
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 220.
               10  FILLER PIC X(16) VALUE 'FERRY 12'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 221, sheet 7
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 221.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 13'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 222, sheet 7
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 222.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 13'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 223, sheet 7
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 223.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 13'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 224, sheet 7
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 224.
               10  FILLER PIC X(16) VALUE 'HARBOUR 13'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 225, sheet 7
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 225.
               10  FILLER PIC X(16) VALUE 'HILLS 13'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 226, sheet 7
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 226.
               10  FILLER PIC X(16) VALUE 'MOOR 13'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 227, sheet 7
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 227.
               10  FILLER PIC X(16) VALUE 'MILLS 13'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 228, sheet 7
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 228.
               10  FILLER PIC X(16) VALUE 'STATION 13'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 229, sheet 7
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 229.
               10  FILLER PIC X(16) VALUE 'MEADOWS 13'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 230, sheet 7
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 230.
               10  FILLER PIC X(16) VALUE 'FERRY 13'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 231, sheet 7
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 231.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 14'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 232, sheet 7
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 232.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 14'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 233, sheet 7
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 233.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 14'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 234, sheet 7
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 234.
               10  FILLER PIC X(16) VALUE 'HARBOUR 14'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 235, sheet 7
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 235.
               10  FILLER PIC X(16) VALUE 'HILLS 14'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 236, sheet 7
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 236.
               10  FILLER PIC X(16) VALUE 'MOOR 14'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 237, sheet 7
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 237.
               10  FILLER PIC X(16) VALUE 'MILLS 14'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 238, sheet 7
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 238.
               10  FILLER PIC X(16) VALUE 'STATION 14'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 239, sheet 7
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 239.
               10  FILLER PIC X(16) VALUE 'MEADOWS 14'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 240, sheet 7
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 240.
               10  FILLER PIC X(16) VALUE 'FERRY 14'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 241, sheet 8
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 241.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 15'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 242, sheet 8
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 242.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 15'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 243, sheet 8
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 243.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 15'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 244, sheet 8
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 244.
               10  FILLER PIC X(16) VALUE 'HARBOUR 15'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 245, sheet 8
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 245.
               10  FILLER PIC X(16) VALUE 'HILLS 15'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 246, sheet 8
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 246.
               10  FILLER PIC X(16) VALUE 'MOOR 15'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 247, sheet 8
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 247.
               10  FILLER PIC X(16) VALUE 'MILLS 15'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 248, sheet 8
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 248.
               10  FILLER PIC X(16) VALUE 'STATION 15'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 249, sheet 8
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 249.
               10  FILLER PIC X(16) VALUE 'MEADOWS 15'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 250, sheet 8
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 250.
               10  FILLER PIC X(16) VALUE 'FERRY 15'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 251, sheet 8
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 251.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 16'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 252, sheet 8
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 252.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 16'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 253, sheet 8
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 253.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 16'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 254, sheet 8
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 254.
               10  FILLER PIC X(16) VALUE 'HARBOUR 16'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 255, sheet 8
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 255.
               10  FILLER PIC X(16) VALUE 'HILLS 16'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 256, sheet 8
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 256.
               10  FILLER PIC X(16) VALUE 'MOOR 16'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 257, sheet 8
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 257.
               10  FILLER PIC X(16) VALUE 'MILLS 16'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 258, sheet 8
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 258.
               10  FILLER PIC X(16) VALUE 'STATION 16'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 259, sheet 8
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 259.
               10  FILLER PIC X(16) VALUE 'MEADOWS 16'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 260, sheet 8
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 260.
               10  FILLER PIC X(16) VALUE 'FERRY 16'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 261, sheet 9
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 261.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 17'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 262, sheet 9
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 262.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 17'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 263, sheet 9
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 263.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 17'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 264, sheet 9
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 264.
               10  FILLER PIC X(16) VALUE 'HARBOUR 17'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 265, sheet 9
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 265.
               10  FILLER PIC X(16) VALUE 'HILLS 17'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 266, sheet 9
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 266.
               10  FILLER PIC X(16) VALUE 'MOOR 17'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 267, sheet 9
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 267.
               10  FILLER PIC X(16) VALUE 'MILLS 17'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 268, sheet 9
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 268.
               10  FILLER PIC X(16) VALUE 'STATION 17'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 269, sheet 9
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 269.
               10  FILLER PIC X(16) VALUE 'MEADOWS 17'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 270, sheet 9
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 270.
               10  FILLER PIC X(16) VALUE 'FERRY 17'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 271, sheet 9
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 271.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 18'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 272, sheet 9
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 272.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 18'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 273, sheet 9
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 273.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 18'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 274, sheet 9
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 274.
               10  FILLER PIC X(16) VALUE 'HARBOUR 18'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 275, sheet 9
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 275.
               10  FILLER PIC X(16) VALUE 'HILLS 18'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 276, sheet 9
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 276.
               10  FILLER PIC X(16) VALUE 'MOOR 18'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 277, sheet 9
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 277.
               10  FILLER PIC X(16) VALUE 'MILLS 18'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 278, sheet 9
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 278.
               10  FILLER PIC X(16) VALUE 'STATION 18'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 279, sheet 9
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 279.
               10  FILLER PIC X(16) VALUE 'MEADOWS 18'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 280, sheet 9
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 280.
               10  FILLER PIC X(16) VALUE 'FERRY 18'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 281, sheet 10
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 281.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 19'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 282, sheet 10
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 282.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 19'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 283, sheet 10
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 283.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 19'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 284, sheet 10
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 284.
               10  FILLER PIC X(16) VALUE 'HARBOUR 19'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 285, sheet 10
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 285.
               10  FILLER PIC X(16) VALUE 'HILLS 19'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 286, sheet 10
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 286.
               10  FILLER PIC X(16) VALUE 'MOOR 19'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 287, sheet 10
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 287.
               10  FILLER PIC X(16) VALUE 'MILLS 19'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 288, sheet 10
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 288.
               10  FILLER PIC X(16) VALUE 'STATION 19'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 289, sheet 10
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 289.
               10  FILLER PIC X(16) VALUE 'MEADOWS 19'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 290, sheet 10
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 290.
               10  FILLER PIC X(16) VALUE 'FERRY 19'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 291, sheet 10
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 291.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 20'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 292, sheet 10
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 292.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 20'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 293, sheet 10
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 293.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 20'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 294, sheet 10
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 294.
               10  FILLER PIC X(16) VALUE 'HARBOUR 20'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 295, sheet 10
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 295.
               10  FILLER PIC X(16) VALUE 'HILLS 20'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 296, sheet 10
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 296.
               10  FILLER PIC X(16) VALUE 'MOOR 20'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 297, sheet 10
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 297.
               10  FILLER PIC X(16) VALUE 'MILLS 20'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 298, sheet 10
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 298.
               10  FILLER PIC X(16) VALUE 'STATION 20'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 299, sheet 10
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 299.
               10  FILLER PIC X(16) VALUE 'MEADOWS 20'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 300, sheet 10
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 300.
               10  FILLER PIC X(16) VALUE 'FERRY 20'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 301, sheet 11
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 301.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 21'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 302, sheet 11
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 302.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 21'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 303, sheet 11
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 303.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 21'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 304, sheet 11
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 304.
               10  FILLER PIC X(16) VALUE 'HARBOUR 21'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 305, sheet 11
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 305.
               10  FILLER PIC X(16) VALUE 'HILLS 21'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 306, sheet 11
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 306.
               10  FILLER PIC X(16) VALUE 'MOOR 21'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 307, sheet 11
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 307.
               10  FILLER PIC X(16) VALUE 'MILLS 21'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 308, sheet 11
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 308.
               10  FILLER PIC X(16) VALUE 'STATION 21'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 309, sheet 11
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 309.
               10  FILLER PIC X(16) VALUE 'MEADOWS 21'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 310, sheet 11
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 310.
               10  FILLER PIC X(16) VALUE 'FERRY 21'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 311, sheet 11
           05  FILLER.                                 *> north bank
               10  FILLER PIC 9(03) VALUE 311.
               10  FILLER PIC X(16) VALUE 'NORTH BANK 22'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
      * district 312, sheet 11
           05  FILLER.                                 *> south bank
               10  FILLER PIC 9(03) VALUE 312.
               10  FILLER PIC X(16) VALUE 'SOUTH BANK 22'.
               10  FILLER PIC X(06) VALUE 'ZONE-2'.
      * district 313, sheet 11
           05  FILLER.                                 *> old town
               10  FILLER PIC 9(03) VALUE 313.
               10  FILLER PIC X(16) VALUE 'OLD TOWN 22'.
               10  FILLER PIC X(06) VALUE 'ZONE-9'.
      * district 314, sheet 11
           05  FILLER.                                 *> harbour
               10  FILLER PIC 9(03) VALUE 314.
               10  FILLER PIC X(16) VALUE 'HARBOUR 22'.
               10  FILLER PIC X(06) VALUE 'ZONE-7'.
      * district 315, sheet 11
           05  FILLER.                                 *> hills
               10  FILLER PIC 9(03) VALUE 315.
               10  FILLER PIC X(16) VALUE 'HILLS 22'.
               10  FILLER PIC X(06) VALUE 'ZONE-5'.
      * district 316, sheet 11
           05  FILLER.                                 *> moor
               10  FILLER PIC 9(03) VALUE 316.
               10  FILLER PIC X(16) VALUE 'MOOR 22'.
               10  FILLER PIC X(06) VALUE 'ZONE-3'.
      * district 317, sheet 11
           05  FILLER.                                 *> mills
               10  FILLER PIC 9(03) VALUE 317.
               10  FILLER PIC X(16) VALUE 'MILLS 22'.
               10  FILLER PIC X(06) VALUE 'ZONE-1'.
      * district 318, sheet 11
           05  FILLER.                                 *> station
               10  FILLER PIC 9(03) VALUE 318.
               10  FILLER PIC X(16) VALUE 'STATION 22'.
               10  FILLER PIC X(06) VALUE 'ZONE-8'.
      * district 319, sheet 11
           05  FILLER.                                 *> meadows
               10  FILLER PIC 9(03) VALUE 319.
               10  FILLER PIC X(16) VALUE 'MEADOWS 22'.
               10  FILLER PIC X(06) VALUE 'ZONE-6'.
      * district 320, sheet 11
           05  FILLER.                                 *> ferry
               10  FILLER PIC 9(03) VALUE 320.
               10  FILLER PIC X(16) VALUE 'FERRY 22'.
               10  FILLER PIC X(06) VALUE 'ZONE-4'.
       01  DISTRICT-TABLE REDEFINES DISTRICT-ROWS.
           05  DISTRICT-ROW OCCURS 220 TIMES
                   ASCENDING KEY IS DISTRICT-NUMBER
                   INDEXED BY DISTRICT-IX.
               10  DISTRICT-NUMBER         PIC 9(03).
               10  DISTRICT-NAME           PIC X(16).
               10  DISTRICT-ZONE           PIC X(06).
       LINKAGE SECTION.
           COPY MWRATE.
       PROCEDURE DIVISION USING RATE-AREA.
       MAIN-LINE SECTION.
       0000-MAIN.
           MOVE 0 TO RATE-RETURN-CODE RATE-NET RATE-TAX RATE-STANDING
           ACCEPT WS-TODAY FROM DATE YYYYMMDD
           PERFORM 0100-SEASON
           PERFORM 0200-DISTRICT THRU 0200-DISTRICT-EXIT
           IF NOT RATE-OK
               GOBACK
           END-IF
           EVALUATE RATE-CLASS
               WHEN 'H1'
                   PERFORM RATE-H1
               WHEN 'H2'
                   PERFORM RATE-H2
               WHEN 'T1'
                   PERFORM RATE-T1
               WHEN 'T2'
                   PERFORM RATE-T2
               WHEN 'A1'
                   PERFORM RATE-A1
               WHEN 'P1'
                   PERFORM RATE-P1
               WHEN 'P2'
                   PERFORM RATE-P2
               WHEN 'P3'
                   PERFORM RATE-P3
               WHEN 'P4'
                   PERFORM RATE-P4
               WHEN 'N1'
                   PERFORM RATE-N1
               WHEN OTHER
                   SET RATE-UNKNOWN-CLASS TO TRUE
           END-EVALUATE
           MOVE 0 TO WS-RELIEFS
           PERFORM RELIEFS
           PERFORM DISTRICT-SURCHARGE
           PERFORM 0900-ROUND THRU 0900-ROUND-EXIT
           GOBACK.
       0100-SEASON.
           IF WS-MONTH < 4 OR > 10
               SET SEASON-WINTER TO TRUE
           ELSE
               SET SEASON-SUMMER TO TRUE
           END-IF
           MOVE 365 TO WS-DAYS-OF-YEAR
           IF FUNCTION MOD (WS-YEAR 4) = 0
               MOVE 366 TO WS-DAYS-OF-YEAR
           END-IF.
       0200-DISTRICT.
           SEARCH ALL DISTRICT-ROW
               AT END
                   SET RATE-UNKNOWN-DISTRICT TO TRUE
                   GO TO 0200-DISTRICT-EXIT
               WHEN DISTRICT-NUMBER (DISTRICT-IX) = RATE-DISTRICT
                   CONTINUE
           END-SEARCH.
       0200-DISTRICT-EXIT.
           EXIT.
       0900-ROUND.
           IF NOT RATE-OK
               GO TO 0900-ROUND-EXIT
           END-IF
           COMPUTE RATE-NET ROUNDED = RATE-NET * (1 + WS-SURCHARGE)
           COMPUTE RATE-TAX ROUNDED = RATE-NET * WS-TAX-RATE.
       0900-ROUND-EXIT.
           EXIT.
      *----------------------------------------------------------------
      * Tariff H1: HOUSEHOLDS
      *----------------------------------------------------------------
       RATE-H1 SECTION.
       H1-00-START.
           MOVE RATE-CONSUMPTION-M3 TO WS-REST-M3
           MOVE 0.07 TO WS-TAX-RATE
           PERFORM H1-10-STANDING
           PERFORM H1-20-BLOCK-1 THRU H1-30-BLOCKS-EXIT
           PERFORM H1-40-SEWAGE THRU H1-40-SEWAGE-EXIT
           PERFORM H1-50-DISCOUNT
           GO TO H1-90-EXIT.
       H1-10-STANDING.
           COMPUTE RATE-STANDING ROUNDED =
               30.40 * RATE-DAYS / WS-DAYS-OF-YEAR.
       H1-20-BLOCK-1.
      * Block 1 of 4: up to 20 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO H1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               20 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 2.4100
           ADD WS-AMOUNT TO RATE-NET.
       H1-21-BLOCK-2.
      * Block 2 of 4: up to 80 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO H1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               60 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.4600
           IF SEASON-WINTER
               MULTIPLY 0.91 BY WS-AMOUNT
           END-IF
           ADD WS-AMOUNT TO RATE-NET.
       H1-22-BLOCK-3.
      * Block 3 of 4: up to 180 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO H1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               100 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.1433
           ADD WS-AMOUNT TO RATE-NET.
       H1-23-BLOCK-4.
      * Block 4 of 4: all the rest
           IF WS-REST-M3 NOT > 0
               GO TO H1-30-BLOCKS-EXIT
           END-IF
           MOVE WS-REST-M3 TO WS-BLOCK-M3
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 0.9850
           IF SEASON-WINTER
               MULTIPLY 0.93 BY WS-AMOUNT
           END-IF
           ADD WS-AMOUNT TO RATE-NET.
       H1-30-BLOCKS-EXIT.
           EXIT.
       H1-40-SEWAGE.
           IF RATE-CONSUMPTION-M3 = 0
               GO TO H1-40-SEWAGE-EXIT
           END-IF
           COMPUTE WS-SEWAGE = RATE-CONSUMPTION-M3 * 0.80 * 1.05
           EVALUATE DISTRICT-ZONE (DISTRICT-IX)
               WHEN 'ZONE-1'
                   MULTIPLY 1.01 BY WS-SEWAGE
               WHEN 'ZONE-2'
                   MULTIPLY 1.02 BY WS-SEWAGE
               WHEN 'ZONE-3'
                   MULTIPLY 1.03 BY WS-SEWAGE
               WHEN 'ZONE-4'
                   MULTIPLY 1.04 BY WS-SEWAGE
               WHEN 'ZONE-5'
                   MULTIPLY 1.05 BY WS-SEWAGE
               WHEN 'ZONE-6'
                   MULTIPLY 1.06 BY WS-SEWAGE
               WHEN 'ZONE-7'
                   MULTIPLY 1.07 BY WS-SEWAGE
               WHEN 'ZONE-8'
                   MULTIPLY 1.08 BY WS-SEWAGE
               WHEN 'ZONE-9'
                   MULTIPLY 1.09 BY WS-SEWAGE
           END-EVALUATE
           ADD WS-SEWAGE TO RATE-NET.
       H1-40-SEWAGE-EXIT.
           EXIT.
       H1-50-DISCOUNT.
           MOVE 0 TO WS-DISCOUNT
           IF RATE-CONSUMPTION-M3 > 240
               COMPUTE WS-DISCOUNT = RATE-NET * 0.01
           END-IF
           IF RATE-CONSUMPTION-M3 > 540
               COMPUTE WS-DISCOUNT = RATE-NET * 0.02
           END-IF
           IF RATE-CONSUMPTION-M3 > 960
               COMPUTE WS-DISCOUNT = RATE-NET * 0.03
           END-IF
           IF RATE-CONSUMPTION-M3 > 1500
               COMPUTE WS-DISCOUNT = RATE-NET * 0.04
           END-IF
           IF RATE-CONSUMPTION-M3 > 2160
               COMPUTE WS-DISCOUNT = RATE-NET * 0.05
           END-IF
           SUBTRACT WS-DISCOUNT FROM RATE-NET.
       H1-90-EXIT.
           EXIT.
      *----------------------------------------------------------------
      * Tariff H2: HOUSEHOLDS WITH A GARDEN METER
      *----------------------------------------------------------------
       RATE-H2 SECTION.
       H2-00-START.
           MOVE RATE-CONSUMPTION-M3 TO WS-REST-M3
           MOVE 0.07 TO WS-TAX-RATE
           PERFORM H2-10-STANDING
           PERFORM H2-20-BLOCK-1 THRU H2-30-BLOCKS-EXIT
           PERFORM H2-40-SEWAGE THRU H2-40-SEWAGE-EXIT
           PERFORM H2-50-DISCOUNT
           GO TO H2-90-EXIT.
       H2-10-STANDING.
           COMPUTE RATE-STANDING ROUNDED =
               42.40 * RATE-DAYS / WS-DAYS-OF-YEAR.
       H2-20-BLOCK-1.
      * Block 1 of 6: up to 35 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO H2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               35 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 2.5200
           ADD WS-AMOUNT TO RATE-NET.
       H2-21-BLOCK-2.
      * Block 2 of 6: up to 140 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO H2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               105 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.5700
           IF SEASON-WINTER
               MULTIPLY 0.91 BY WS-AMOUNT
           END-IF
           ADD WS-AMOUNT TO RATE-NET.
       H2-22-BLOCK-3.
      * Block 3 of 6: up to 315 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO H2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               175 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.2533
           ADD WS-AMOUNT TO RATE-NET.
       H2-23-BLOCK-4.
      * Block 4 of 6: up to 560 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO H2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               245 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.0950
           IF SEASON-WINTER
               MULTIPLY 0.93 BY WS-AMOUNT
           END-IF
           ADD WS-AMOUNT TO RATE-NET.
       H2-24-BLOCK-5.
      * Block 5 of 6: up to 875 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO H2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               315 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.0000
           ADD WS-AMOUNT TO RATE-NET.
       H2-25-BLOCK-6.
      * Block 6 of 6: all the rest
           IF WS-REST-M3 NOT > 0
               GO TO H2-30-BLOCKS-EXIT
           END-IF
           MOVE WS-REST-M3 TO WS-BLOCK-M3
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 0.9367
           IF SEASON-WINTER
               MULTIPLY 0.95 BY WS-AMOUNT
           END-IF
           ADD WS-AMOUNT TO RATE-NET.
       H2-30-BLOCKS-EXIT.
           EXIT.
       H2-40-SEWAGE.
           IF RATE-CONSUMPTION-M3 = 0
               GO TO H2-40-SEWAGE-EXIT
           END-IF
           COMPUTE WS-SEWAGE = RATE-CONSUMPTION-M3 * 0.81 * 1.15
           EVALUATE DISTRICT-ZONE (DISTRICT-IX)
               WHEN 'ZONE-1'
                   MULTIPLY 1.02 BY WS-SEWAGE
               WHEN 'ZONE-2'
                   MULTIPLY 1.04 BY WS-SEWAGE
               WHEN 'ZONE-3'
                   MULTIPLY 1.06 BY WS-SEWAGE
               WHEN 'ZONE-4'
                   MULTIPLY 1.08 BY WS-SEWAGE
               WHEN 'ZONE-5'
                   MULTIPLY 1.00 BY WS-SEWAGE
               WHEN 'ZONE-6'
                   MULTIPLY 1.02 BY WS-SEWAGE
               WHEN 'ZONE-7'
                   MULTIPLY 1.04 BY WS-SEWAGE
               WHEN 'ZONE-8'
                   MULTIPLY 1.06 BY WS-SEWAGE
               WHEN 'ZONE-9'
                   MULTIPLY 1.08 BY WS-SEWAGE
           END-EVALUATE
           ADD WS-SEWAGE TO RATE-NET.
       H2-40-SEWAGE-EXIT.
           EXIT.
       H2-50-DISCOUNT.
           MOVE 0 TO WS-DISCOUNT
           IF RATE-CONSUMPTION-M3 > 420
               COMPUTE WS-DISCOUNT = RATE-NET * 0.01
           END-IF
           IF RATE-CONSUMPTION-M3 > 945
               COMPUTE WS-DISCOUNT = RATE-NET * 0.02
           END-IF
           IF RATE-CONSUMPTION-M3 > 1680
               COMPUTE WS-DISCOUNT = RATE-NET * 0.03
           END-IF
           IF RATE-CONSUMPTION-M3 > 2625
               COMPUTE WS-DISCOUNT = RATE-NET * 0.04
           END-IF
           IF RATE-CONSUMPTION-M3 > 3780
               COMPUTE WS-DISCOUNT = RATE-NET * 0.05
           END-IF
           SUBTRACT WS-DISCOUNT FROM RATE-NET.
       H2-90-EXIT.
           EXIT.
      *----------------------------------------------------------------
      * Tariff T1: SMALL TRADE
      *----------------------------------------------------------------
       RATE-T1 SECTION.
       T1-00-START.
           MOVE RATE-CONSUMPTION-M3 TO WS-REST-M3
           MOVE 0.07 TO WS-TAX-RATE
           PERFORM T1-10-STANDING
           PERFORM T1-20-BLOCK-1 THRU T1-30-BLOCKS-EXIT
           PERFORM T1-40-SEWAGE THRU T1-40-SEWAGE-EXIT
           PERFORM T1-50-DISCOUNT
           GO TO T1-90-EXIT.
       T1-10-STANDING.
           COMPUTE RATE-STANDING ROUNDED =
               54.40 * RATE-DAYS / WS-DAYS-OF-YEAR.
       T1-20-BLOCK-1.
      * Block 1 of 5: up to 50 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO T1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               50 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 2.6300
           ADD WS-AMOUNT TO RATE-NET.
       T1-21-BLOCK-2.
      * Block 2 of 5: up to 200 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO T1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               150 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.6800
           ADD WS-AMOUNT TO RATE-NET.
       T1-22-BLOCK-3.
      * Block 3 of 5: up to 450 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO T1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               250 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.3633
           ADD WS-AMOUNT TO RATE-NET.
       T1-23-BLOCK-4.
      * Block 4 of 5: up to 800 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO T1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               350 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.2050
           ADD WS-AMOUNT TO RATE-NET.
       T1-24-BLOCK-5.
      * Block 5 of 5: all the rest
           IF WS-REST-M3 NOT > 0
               GO TO T1-30-BLOCKS-EXIT
           END-IF
           MOVE WS-REST-M3 TO WS-BLOCK-M3
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.1100
           ADD WS-AMOUNT TO RATE-NET.
       T1-30-BLOCKS-EXIT.
           EXIT.
       T1-40-SEWAGE.
           IF RATE-CONSUMPTION-M3 = 0
               GO TO T1-40-SEWAGE-EXIT
           END-IF
           COMPUTE WS-SEWAGE = RATE-CONSUMPTION-M3 * 0.82 * 1.25
           EVALUATE DISTRICT-ZONE (DISTRICT-IX)
               WHEN 'ZONE-1'
                   MULTIPLY 1.03 BY WS-SEWAGE
               WHEN 'ZONE-2'
                   MULTIPLY 1.06 BY WS-SEWAGE
               WHEN 'ZONE-3'
                   MULTIPLY 1.09 BY WS-SEWAGE
               WHEN 'ZONE-4'
                   MULTIPLY 1.02 BY WS-SEWAGE
               WHEN 'ZONE-5'
                   MULTIPLY 1.05 BY WS-SEWAGE
               WHEN 'ZONE-6'
                   MULTIPLY 1.08 BY WS-SEWAGE
               WHEN 'ZONE-7'
                   MULTIPLY 1.01 BY WS-SEWAGE
               WHEN 'ZONE-8'
                   MULTIPLY 1.04 BY WS-SEWAGE
               WHEN 'ZONE-9'
                   MULTIPLY 1.07 BY WS-SEWAGE
           END-EVALUATE
           ADD WS-SEWAGE TO RATE-NET.
       T1-40-SEWAGE-EXIT.
           EXIT.
       T1-50-DISCOUNT.
           MOVE 0 TO WS-DISCOUNT
           IF RATE-CONSUMPTION-M3 > 600
               COMPUTE WS-DISCOUNT = RATE-NET * 0.01
           END-IF
           IF RATE-CONSUMPTION-M3 > 1350
               COMPUTE WS-DISCOUNT = RATE-NET * 0.02
           END-IF
           IF RATE-CONSUMPTION-M3 > 2400
               COMPUTE WS-DISCOUNT = RATE-NET * 0.03
           END-IF
           IF RATE-CONSUMPTION-M3 > 3750
               COMPUTE WS-DISCOUNT = RATE-NET * 0.04
           END-IF
           IF RATE-CONSUMPTION-M3 > 5400
               COMPUTE WS-DISCOUNT = RATE-NET * 0.05
           END-IF
           SUBTRACT WS-DISCOUNT FROM RATE-NET.
       T1-90-EXIT.
           EXIT.
      *----------------------------------------------------------------
      * Tariff T2: LARGE TRADE
      *----------------------------------------------------------------
       RATE-T2 SECTION.
       T2-00-START.
           MOVE RATE-CONSUMPTION-M3 TO WS-REST-M3
           MOVE 0.07 TO WS-TAX-RATE
           PERFORM T2-10-STANDING
           PERFORM T2-20-BLOCK-1 THRU T2-30-BLOCKS-EXIT
           PERFORM T2-40-SEWAGE THRU T2-40-SEWAGE-EXIT
           PERFORM T2-50-DISCOUNT
           GO TO T2-90-EXIT.
       T2-10-STANDING.
           COMPUTE RATE-STANDING ROUNDED =
               66.40 * RATE-DAYS / WS-DAYS-OF-YEAR.
       T2-20-BLOCK-1.
      * Block 1 of 9: up to 65 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO T2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               65 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 2.7400
           ADD WS-AMOUNT TO RATE-NET.
       T2-21-BLOCK-2.
      * Block 2 of 9: up to 260 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO T2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               195 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.7900
           ADD WS-AMOUNT TO RATE-NET.
       T2-22-BLOCK-3.
      * Block 3 of 9: up to 585 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO T2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               325 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.4733
           ADD WS-AMOUNT TO RATE-NET.
       T2-23-BLOCK-4.
      * Block 4 of 9: up to 1040 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO T2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               455 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.3150
           ADD WS-AMOUNT TO RATE-NET.
       T2-24-BLOCK-5.
      * Block 5 of 9: up to 1625 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO T2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               585 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.2200
           ADD WS-AMOUNT TO RATE-NET.
       T2-25-BLOCK-6.
      * Block 6 of 9: up to 2340 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO T2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               715 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.1567
           ADD WS-AMOUNT TO RATE-NET.
       T2-26-BLOCK-7.
      * Block 7 of 9: up to 3185 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO T2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               845 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.1114
           ADD WS-AMOUNT TO RATE-NET.
       T2-27-BLOCK-8.
      * Block 8 of 9: up to 4160 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO T2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               975 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.0775
           ADD WS-AMOUNT TO RATE-NET.
       T2-28-BLOCK-9.
      * Block 9 of 9: all the rest
           IF WS-REST-M3 NOT > 0
               GO TO T2-30-BLOCKS-EXIT
           END-IF
           MOVE WS-REST-M3 TO WS-BLOCK-M3
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.0511
           ADD WS-AMOUNT TO RATE-NET.
       T2-30-BLOCKS-EXIT.
           EXIT.
       T2-40-SEWAGE.
           IF RATE-CONSUMPTION-M3 = 0
               GO TO T2-40-SEWAGE-EXIT
           END-IF
           COMPUTE WS-SEWAGE = RATE-CONSUMPTION-M3 * 0.83 * 1.35
           EVALUATE DISTRICT-ZONE (DISTRICT-IX)
               WHEN 'ZONE-1'
                   MULTIPLY 1.04 BY WS-SEWAGE
               WHEN 'ZONE-2'
                   MULTIPLY 1.08 BY WS-SEWAGE
               WHEN 'ZONE-3'
                   MULTIPLY 1.02 BY WS-SEWAGE
               WHEN 'ZONE-4'
                   MULTIPLY 1.06 BY WS-SEWAGE
               WHEN 'ZONE-5'
                   MULTIPLY 1.00 BY WS-SEWAGE
               WHEN 'ZONE-6'
                   MULTIPLY 1.04 BY WS-SEWAGE
               WHEN 'ZONE-7'
                   MULTIPLY 1.08 BY WS-SEWAGE
               WHEN 'ZONE-8'
                   MULTIPLY 1.02 BY WS-SEWAGE
               WHEN 'ZONE-9'
                   MULTIPLY 1.06 BY WS-SEWAGE
           END-EVALUATE
           ADD WS-SEWAGE TO RATE-NET.
       T2-40-SEWAGE-EXIT.
           EXIT.
       T2-50-DISCOUNT.
           MOVE 0 TO WS-DISCOUNT
           IF RATE-CONSUMPTION-M3 > 780
               COMPUTE WS-DISCOUNT = RATE-NET * 0.01
           END-IF
           IF RATE-CONSUMPTION-M3 > 1755
               COMPUTE WS-DISCOUNT = RATE-NET * 0.02
           END-IF
           IF RATE-CONSUMPTION-M3 > 3120
               COMPUTE WS-DISCOUNT = RATE-NET * 0.03
           END-IF
           IF RATE-CONSUMPTION-M3 > 4875
               COMPUTE WS-DISCOUNT = RATE-NET * 0.04
           END-IF
           IF RATE-CONSUMPTION-M3 > 7020
               COMPUTE WS-DISCOUNT = RATE-NET * 0.05
           END-IF
           SUBTRACT WS-DISCOUNT FROM RATE-NET.
       T2-90-EXIT.
           EXIT.
      *----------------------------------------------------------------
      * Tariff A1: FARMS
      *----------------------------------------------------------------
       RATE-A1 SECTION.
       A1-00-START.
           MOVE RATE-CONSUMPTION-M3 TO WS-REST-M3
           MOVE 0.19 TO WS-TAX-RATE
           PERFORM A1-10-STANDING
           PERFORM A1-20-BLOCK-1 THRU A1-30-BLOCKS-EXIT
           PERFORM A1-50-DISCOUNT
           GO TO A1-90-EXIT.
       A1-10-STANDING.
           COMPUTE RATE-STANDING ROUNDED =
               78.40 * RATE-DAYS / WS-DAYS-OF-YEAR.
       A1-20-BLOCK-1.
      * Block 1 of 7: up to 80 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO A1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               80 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 2.8500
           ADD WS-AMOUNT TO RATE-NET.
       A1-21-BLOCK-2.
      * Block 2 of 7: up to 320 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO A1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               240 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.9000
           IF SEASON-WINTER
               MULTIPLY 0.91 BY WS-AMOUNT
           END-IF
           ADD WS-AMOUNT TO RATE-NET.
       A1-22-BLOCK-3.
      * Block 3 of 7: up to 720 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO A1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               400 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.5833
           ADD WS-AMOUNT TO RATE-NET.
       A1-23-BLOCK-4.
      * Block 4 of 7: up to 1280 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO A1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               560 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.4250
           IF SEASON-WINTER
               MULTIPLY 0.93 BY WS-AMOUNT
           END-IF
           ADD WS-AMOUNT TO RATE-NET.
       A1-24-BLOCK-5.
      * Block 5 of 7: up to 2000 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO A1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               720 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.3300
           ADD WS-AMOUNT TO RATE-NET.
       A1-25-BLOCK-6.
      * Block 6 of 7: up to 2880 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO A1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               880 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.2667
           IF SEASON-WINTER
               MULTIPLY 0.95 BY WS-AMOUNT
           END-IF
           ADD WS-AMOUNT TO RATE-NET.
       A1-26-BLOCK-7.
      * Block 7 of 7: all the rest
           IF WS-REST-M3 NOT > 0
               GO TO A1-30-BLOCKS-EXIT
           END-IF
           MOVE WS-REST-M3 TO WS-BLOCK-M3
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.2214
           ADD WS-AMOUNT TO RATE-NET.
       A1-30-BLOCKS-EXIT.
           EXIT.
       A1-50-DISCOUNT.
           MOVE 0 TO WS-DISCOUNT
           IF RATE-CONSUMPTION-M3 > 960
               COMPUTE WS-DISCOUNT = RATE-NET * 0.01
           END-IF
           IF RATE-CONSUMPTION-M3 > 2160
               COMPUTE WS-DISCOUNT = RATE-NET * 0.02
           END-IF
           IF RATE-CONSUMPTION-M3 > 3840
               COMPUTE WS-DISCOUNT = RATE-NET * 0.03
           END-IF
           IF RATE-CONSUMPTION-M3 > 6000
               COMPUTE WS-DISCOUNT = RATE-NET * 0.04
           END-IF
           IF RATE-CONSUMPTION-M3 > 8640
               COMPUTE WS-DISCOUNT = RATE-NET * 0.05
           END-IF
           SUBTRACT WS-DISCOUNT FROM RATE-NET.
       A1-90-EXIT.
           EXIT.
      *----------------------------------------------------------------
      * Tariff P1: SCHOOLS
      *----------------------------------------------------------------
       RATE-P1 SECTION.
       P1-00-START.
           MOVE RATE-CONSUMPTION-M3 TO WS-REST-M3
           MOVE 0.07 TO WS-TAX-RATE
           PERFORM P1-10-STANDING
           PERFORM P1-20-BLOCK-1 THRU P1-30-BLOCKS-EXIT
           PERFORM P1-40-SEWAGE THRU P1-40-SEWAGE-EXIT
           GO TO P1-90-EXIT.
       P1-10-STANDING.
           COMPUTE RATE-STANDING ROUNDED =
               90.40 * RATE-DAYS / WS-DAYS-OF-YEAR.
       P1-20-BLOCK-1.
      * Block 1 of 4: up to 95 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO P1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               95 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 2.9600
           ADD WS-AMOUNT TO RATE-NET.
       P1-21-BLOCK-2.
      * Block 2 of 4: up to 380 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO P1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               285 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 2.0100
           IF SEASON-WINTER
               MULTIPLY 0.91 BY WS-AMOUNT
           END-IF
           ADD WS-AMOUNT TO RATE-NET.
       P1-22-BLOCK-3.
      * Block 3 of 4: up to 855 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO P1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               475 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.6933
           ADD WS-AMOUNT TO RATE-NET.
       P1-23-BLOCK-4.
      * Block 4 of 4: all the rest
           IF WS-REST-M3 NOT > 0
               GO TO P1-30-BLOCKS-EXIT
           END-IF
           MOVE WS-REST-M3 TO WS-BLOCK-M3
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.5350
           IF SEASON-WINTER
               MULTIPLY 0.93 BY WS-AMOUNT
           END-IF
           ADD WS-AMOUNT TO RATE-NET.
       P1-30-BLOCKS-EXIT.
           EXIT.
       P1-40-SEWAGE.
           IF RATE-CONSUMPTION-M3 = 0
               GO TO P1-40-SEWAGE-EXIT
           END-IF
           COMPUTE WS-SEWAGE = RATE-CONSUMPTION-M3 * 0.85 * 1.55
           EVALUATE DISTRICT-ZONE (DISTRICT-IX)
               WHEN 'ZONE-1'
                   MULTIPLY 1.06 BY WS-SEWAGE
               WHEN 'ZONE-2'
                   MULTIPLY 1.02 BY WS-SEWAGE
               WHEN 'ZONE-3'
                   MULTIPLY 1.08 BY WS-SEWAGE
               WHEN 'ZONE-4'
                   MULTIPLY 1.04 BY WS-SEWAGE
               WHEN 'ZONE-5'
                   MULTIPLY 1.00 BY WS-SEWAGE
               WHEN 'ZONE-6'
                   MULTIPLY 1.06 BY WS-SEWAGE
               WHEN 'ZONE-7'
                   MULTIPLY 1.02 BY WS-SEWAGE
               WHEN 'ZONE-8'
                   MULTIPLY 1.08 BY WS-SEWAGE
               WHEN 'ZONE-9'
                   MULTIPLY 1.04 BY WS-SEWAGE
           END-EVALUATE
           ADD WS-SEWAGE TO RATE-NET.
       P1-40-SEWAGE-EXIT.
           EXIT.
       P1-90-EXIT.
           EXIT.
      *----------------------------------------------------------------
      * Tariff P2: HOSPITALS
      *----------------------------------------------------------------
       RATE-P2 SECTION.
       P2-00-START.
           MOVE RATE-CONSUMPTION-M3 TO WS-REST-M3
           MOVE 0.07 TO WS-TAX-RATE
           PERFORM P2-10-STANDING
           PERFORM P2-20-BLOCK-1 THRU P2-30-BLOCKS-EXIT
           PERFORM P2-40-SEWAGE THRU P2-40-SEWAGE-EXIT
           GO TO P2-90-EXIT.
       P2-10-STANDING.
           COMPUTE RATE-STANDING ROUNDED =
               102.40 * RATE-DAYS / WS-DAYS-OF-YEAR.
       P2-20-BLOCK-1.
      * Block 1 of 8: up to 110 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO P2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               110 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 3.0700
           ADD WS-AMOUNT TO RATE-NET.
       P2-21-BLOCK-2.
      * Block 2 of 8: up to 440 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO P2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               330 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 2.1200
           ADD WS-AMOUNT TO RATE-NET.
       P2-22-BLOCK-3.
      * Block 3 of 8: up to 990 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO P2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               550 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.8033
           ADD WS-AMOUNT TO RATE-NET.
       P2-23-BLOCK-4.
      * Block 4 of 8: up to 1760 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO P2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               770 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.6450
           ADD WS-AMOUNT TO RATE-NET.
       P2-24-BLOCK-5.
      * Block 5 of 8: up to 2750 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO P2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               990 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.5500
           ADD WS-AMOUNT TO RATE-NET.
       P2-25-BLOCK-6.
      * Block 6 of 8: up to 3960 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO P2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               1210 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.4867
           ADD WS-AMOUNT TO RATE-NET.
       P2-26-BLOCK-7.
      * Block 7 of 8: up to 5390 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO P2-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               1430 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.4414
           ADD WS-AMOUNT TO RATE-NET.
       P2-27-BLOCK-8.
      * Block 8 of 8: all the rest
           IF WS-REST-M3 NOT > 0
               GO TO P2-30-BLOCKS-EXIT
           END-IF
           MOVE WS-REST-M3 TO WS-BLOCK-M3
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.4075
           ADD WS-AMOUNT TO RATE-NET.
       P2-30-BLOCKS-EXIT.
           EXIT.
       P2-40-SEWAGE.
           IF RATE-CONSUMPTION-M3 = 0
               GO TO P2-40-SEWAGE-EXIT
           END-IF
           COMPUTE WS-SEWAGE = RATE-CONSUMPTION-M3 * 0.86 * 1.65
           EVALUATE DISTRICT-ZONE (DISTRICT-IX)
               WHEN 'ZONE-1'
                   MULTIPLY 1.07 BY WS-SEWAGE
               WHEN 'ZONE-2'
                   MULTIPLY 1.04 BY WS-SEWAGE
               WHEN 'ZONE-3'
                   MULTIPLY 1.01 BY WS-SEWAGE
               WHEN 'ZONE-4'
                   MULTIPLY 1.08 BY WS-SEWAGE
               WHEN 'ZONE-5'
                   MULTIPLY 1.05 BY WS-SEWAGE
               WHEN 'ZONE-6'
                   MULTIPLY 1.02 BY WS-SEWAGE
               WHEN 'ZONE-7'
                   MULTIPLY 1.09 BY WS-SEWAGE
               WHEN 'ZONE-8'
                   MULTIPLY 1.06 BY WS-SEWAGE
               WHEN 'ZONE-9'
                   MULTIPLY 1.03 BY WS-SEWAGE
           END-EVALUATE
           ADD WS-SEWAGE TO RATE-NET.
       P2-40-SEWAGE-EXIT.
           EXIT.
       P2-90-EXIT.
           EXIT.
      *----------------------------------------------------------------
      * Tariff P3: FIRE BRIGADES
      *----------------------------------------------------------------
       RATE-P3 SECTION.
       P3-00-START.
           MOVE RATE-CONSUMPTION-M3 TO WS-REST-M3
           MOVE 0.19 TO WS-TAX-RATE
           PERFORM P3-10-STANDING
           PERFORM P3-20-BLOCK-1 THRU P3-30-BLOCKS-EXIT
           GO TO P3-90-EXIT.
       P3-10-STANDING.
           COMPUTE RATE-STANDING ROUNDED =
               114.40 * RATE-DAYS / WS-DAYS-OF-YEAR.
       P3-20-BLOCK-1.
      * Block 1 of 3: up to 125 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO P3-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               125 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 3.1800
           ADD WS-AMOUNT TO RATE-NET.
       P3-21-BLOCK-2.
      * Block 2 of 3: up to 500 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO P3-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               375 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 2.2300
           ADD WS-AMOUNT TO RATE-NET.
       P3-22-BLOCK-3.
      * Block 3 of 3: all the rest
           IF WS-REST-M3 NOT > 0
               GO TO P3-30-BLOCKS-EXIT
           END-IF
           MOVE WS-REST-M3 TO WS-BLOCK-M3
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.9133
           ADD WS-AMOUNT TO RATE-NET.
       P3-30-BLOCKS-EXIT.
           EXIT.
       P3-90-EXIT.
           EXIT.
      *----------------------------------------------------------------
      * Tariff P4: PARKS AND POOLS
      *----------------------------------------------------------------
       RATE-P4 SECTION.
       P4-00-START.
           MOVE RATE-CONSUMPTION-M3 TO WS-REST-M3
           MOVE 0.07 TO WS-TAX-RATE
           PERFORM P4-10-STANDING
           PERFORM P4-20-BLOCK-1 THRU P4-30-BLOCKS-EXIT
           PERFORM P4-40-SEWAGE THRU P4-40-SEWAGE-EXIT
           GO TO P4-90-EXIT.
       P4-10-STANDING.
           COMPUTE RATE-STANDING ROUNDED =
               126.40 * RATE-DAYS / WS-DAYS-OF-YEAR.
       P4-20-BLOCK-1.
      * Block 1 of 6: up to 140 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO P4-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               140 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 3.2900
           ADD WS-AMOUNT TO RATE-NET.
       P4-21-BLOCK-2.
      * Block 2 of 6: up to 560 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO P4-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               420 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 2.3400
           IF SEASON-WINTER
               MULTIPLY 0.91 BY WS-AMOUNT
           END-IF
           ADD WS-AMOUNT TO RATE-NET.
       P4-22-BLOCK-3.
      * Block 3 of 6: up to 1260 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO P4-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               700 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 2.0233
           ADD WS-AMOUNT TO RATE-NET.
       P4-23-BLOCK-4.
      * Block 4 of 6: up to 2240 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO P4-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               980 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.8650
           IF SEASON-WINTER
               MULTIPLY 0.93 BY WS-AMOUNT
           END-IF
           ADD WS-AMOUNT TO RATE-NET.
       P4-24-BLOCK-5.
      * Block 5 of 6: up to 3500 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO P4-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               1260 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.7700
           ADD WS-AMOUNT TO RATE-NET.
       P4-25-BLOCK-6.
      * Block 6 of 6: all the rest
           IF WS-REST-M3 NOT > 0
               GO TO P4-30-BLOCKS-EXIT
           END-IF
           MOVE WS-REST-M3 TO WS-BLOCK-M3
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.7067
           IF SEASON-WINTER
               MULTIPLY 0.95 BY WS-AMOUNT
           END-IF
           ADD WS-AMOUNT TO RATE-NET.
       P4-30-BLOCKS-EXIT.
           EXIT.
       P4-40-SEWAGE.
           IF RATE-CONSUMPTION-M3 = 0
               GO TO P4-40-SEWAGE-EXIT
           END-IF
           COMPUTE WS-SEWAGE = RATE-CONSUMPTION-M3 * 0.88 * 1.85
           EVALUATE DISTRICT-ZONE (DISTRICT-IX)
               WHEN 'ZONE-1'
                   MULTIPLY 1.09 BY WS-SEWAGE
               WHEN 'ZONE-2'
                   MULTIPLY 1.08 BY WS-SEWAGE
               WHEN 'ZONE-3'
                   MULTIPLY 1.07 BY WS-SEWAGE
               WHEN 'ZONE-4'
                   MULTIPLY 1.06 BY WS-SEWAGE
               WHEN 'ZONE-5'
                   MULTIPLY 1.05 BY WS-SEWAGE
               WHEN 'ZONE-6'
                   MULTIPLY 1.04 BY WS-SEWAGE
               WHEN 'ZONE-7'
                   MULTIPLY 1.03 BY WS-SEWAGE
               WHEN 'ZONE-8'
                   MULTIPLY 1.02 BY WS-SEWAGE
               WHEN 'ZONE-9'
                   MULTIPLY 1.01 BY WS-SEWAGE
           END-EVALUATE
           ADD WS-SEWAGE TO RATE-NET.
       P4-40-SEWAGE-EXIT.
           EXIT.
       P4-90-EXIT.
           EXIT.
      *----------------------------------------------------------------
      * Tariff N1: NEIGHBOURING COMPANIES
      *----------------------------------------------------------------
       RATE-N1 SECTION.
       N1-00-START.
           MOVE RATE-CONSUMPTION-M3 TO WS-REST-M3
           MOVE 0.19 TO WS-TAX-RATE
           PERFORM N1-10-STANDING
           PERFORM N1-20-BLOCK-1 THRU N1-30-BLOCKS-EXIT
           PERFORM N1-50-DISCOUNT
           GO TO N1-90-EXIT.
       N1-10-STANDING.
           COMPUTE RATE-STANDING ROUNDED =
               138.40 * RATE-DAYS / WS-DAYS-OF-YEAR.
       N1-20-BLOCK-1.
      * Block 1 of 9: up to 155 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO N1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               155 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 3.4000
           ADD WS-AMOUNT TO RATE-NET.
       N1-21-BLOCK-2.
      * Block 2 of 9: up to 620 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO N1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               465 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 2.4500
           ADD WS-AMOUNT TO RATE-NET.
       N1-22-BLOCK-3.
      * Block 3 of 9: up to 1395 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO N1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               775 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 2.1333
           ADD WS-AMOUNT TO RATE-NET.
       N1-23-BLOCK-4.
      * Block 4 of 9: up to 2480 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO N1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               1085 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.9750
           ADD WS-AMOUNT TO RATE-NET.
       N1-24-BLOCK-5.
      * Block 5 of 9: up to 3875 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO N1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               1395 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.8800
           ADD WS-AMOUNT TO RATE-NET.
       N1-25-BLOCK-6.
      * Block 6 of 9: up to 5580 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO N1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               1705 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.8167
           ADD WS-AMOUNT TO RATE-NET.
       N1-26-BLOCK-7.
      * Block 7 of 9: up to 7595 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO N1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               2015 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.7714
           ADD WS-AMOUNT TO RATE-NET.
       N1-27-BLOCK-8.
      * Block 8 of 9: up to 9920 m3 a year
           IF WS-REST-M3 NOT > 0
               GO TO N1-30-BLOCKS-EXIT
           END-IF
           COMPUTE WS-LIMIT-M3 ROUNDED =
               2325 * RATE-DAYS / WS-DAYS-OF-YEAR
           IF WS-REST-M3 > WS-LIMIT-M3
               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3
           ELSE
               MOVE WS-REST-M3 TO WS-BLOCK-M3
           END-IF
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.7375
           ADD WS-AMOUNT TO RATE-NET.
       N1-28-BLOCK-9.
      * Block 9 of 9: all the rest
           IF WS-REST-M3 NOT > 0
               GO TO N1-30-BLOCKS-EXIT
           END-IF
           MOVE WS-REST-M3 TO WS-BLOCK-M3
           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3
           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * 1.7111
           ADD WS-AMOUNT TO RATE-NET.
       N1-30-BLOCKS-EXIT.
           EXIT.
       N1-50-DISCOUNT.
           MOVE 0 TO WS-DISCOUNT
           IF RATE-CONSUMPTION-M3 > 1860
               COMPUTE WS-DISCOUNT = RATE-NET * 0.01
           END-IF
           IF RATE-CONSUMPTION-M3 > 4185
               COMPUTE WS-DISCOUNT = RATE-NET * 0.02
           END-IF
           IF RATE-CONSUMPTION-M3 > 7440
               COMPUTE WS-DISCOUNT = RATE-NET * 0.03
           END-IF
           IF RATE-CONSUMPTION-M3 > 11625
               COMPUTE WS-DISCOUNT = RATE-NET * 0.04
           END-IF
           IF RATE-CONSUMPTION-M3 > 16740
               COMPUTE WS-DISCOUNT = RATE-NET * 0.05
           END-IF
           SUBTRACT WS-DISCOUNT FROM RATE-NET.
       N1-90-EXIT.
           EXIT.
      *----------------------------------------------------------------
      * What the districts add, by resolution of their councils.
      * One EVALUATE: the sheet is one table.
      *----------------------------------------------------------------
       DISTRICT-SURCHARGE SECTION.
       SURCHARGE-OF-DISTRICT.
           MOVE 0 TO WS-SURCHARGE
           EVALUATE RATE-DISTRICT ALSO TRUE
      * sheet 1
               WHEN 101 ALSO SEASON-WINTER
                   MOVE 0.0002 TO WS-SURCHARGE
               WHEN 101 ALSO ANY
                   MOVE 0.0001 TO WS-SURCHARGE
               WHEN 102 ALSO SEASON-WINTER
                   MOVE 0.0015 TO WS-SURCHARGE
               WHEN 102 ALSO ANY
                   MOVE 0.0030 TO WS-SURCHARGE
               WHEN 103 ALSO SEASON-WINTER
                   MOVE 0.0028 TO WS-SURCHARGE
               WHEN 103 ALSO ANY
                   MOVE 0.0059 TO WS-SURCHARGE
               WHEN 104 ALSO SEASON-WINTER
                   MOVE 0.0041 TO WS-SURCHARGE
               WHEN 104 ALSO ANY
                   MOVE 0.0088 TO WS-SURCHARGE
               WHEN 105 ALSO SEASON-WINTER
                   MOVE 0.0054 TO WS-SURCHARGE
               WHEN 105 ALSO ANY
                   MOVE 0.0028 TO WS-SURCHARGE
               WHEN 106 ALSO SEASON-WINTER
                   MOVE 0.0067 TO WS-SURCHARGE
               WHEN 106 ALSO ANY
                   MOVE 0.0057 TO WS-SURCHARGE
               WHEN 107 ALSO SEASON-WINTER
                   MOVE 0.0080 TO WS-SURCHARGE
               WHEN 107 ALSO ANY
                   MOVE 0.0086 TO WS-SURCHARGE
               WHEN 108 ALSO SEASON-WINTER
                   MOVE 0.0093 TO WS-SURCHARGE
               WHEN 108 ALSO ANY
                   MOVE 0.0026 TO WS-SURCHARGE
               WHEN 109 ALSO SEASON-WINTER
                   MOVE 0.0009 TO WS-SURCHARGE
               WHEN 109 ALSO ANY
                   MOVE 0.0055 TO WS-SURCHARGE
               WHEN 110 ALSO SEASON-WINTER
                   MOVE 0.0022 TO WS-SURCHARGE
               WHEN 110 ALSO ANY
                   MOVE 0.0084 TO WS-SURCHARGE
               WHEN 111 ALSO SEASON-WINTER
                   MOVE 0.0035 TO WS-SURCHARGE
               WHEN 111 ALSO ANY
                   MOVE 0.0024 TO WS-SURCHARGE
               WHEN 112 ALSO SEASON-WINTER
                   MOVE 0.0048 TO WS-SURCHARGE
               WHEN 112 ALSO ANY
                   MOVE 0.0053 TO WS-SURCHARGE
               WHEN 113 ALSO SEASON-WINTER
                   MOVE 0.0061 TO WS-SURCHARGE
               WHEN 113 ALSO ANY
                   MOVE 0.0082 TO WS-SURCHARGE
               WHEN 114 ALSO SEASON-WINTER
                   MOVE 0.0074 TO WS-SURCHARGE
               WHEN 114 ALSO ANY
                   MOVE 0.0022 TO WS-SURCHARGE
               WHEN 115 ALSO SEASON-WINTER
                   MOVE 0.0087 TO WS-SURCHARGE
               WHEN 115 ALSO ANY
                   MOVE 0.0051 TO WS-SURCHARGE
               WHEN 116 ALSO SEASON-WINTER
                   MOVE 0.0003 TO WS-SURCHARGE
               WHEN 116 ALSO ANY
                   MOVE 0.0080 TO WS-SURCHARGE
               WHEN 117 ALSO SEASON-WINTER
                   MOVE 0.0016 TO WS-SURCHARGE
               WHEN 117 ALSO ANY
                   MOVE 0.0020 TO WS-SURCHARGE
               WHEN 118 ALSO SEASON-WINTER
                   MOVE 0.0029 TO WS-SURCHARGE
               WHEN 118 ALSO ANY
                   MOVE 0.0049 TO WS-SURCHARGE
               WHEN 119 ALSO SEASON-WINTER
                   MOVE 0.0042 TO WS-SURCHARGE
               WHEN 119 ALSO ANY
                   MOVE 0.0078 TO WS-SURCHARGE
               WHEN 120 ALSO SEASON-WINTER
                   MOVE 0.0055 TO WS-SURCHARGE
               WHEN 120 ALSO ANY
                   MOVE 0.0018 TO WS-SURCHARGE
      * sheet 2
               WHEN 121 ALSO SEASON-WINTER
                   MOVE 0.0068 TO WS-SURCHARGE
               WHEN 121 ALSO ANY
                   MOVE 0.0047 TO WS-SURCHARGE
               WHEN 122 ALSO SEASON-WINTER
                   MOVE 0.0081 TO WS-SURCHARGE
               WHEN 122 ALSO ANY
                   MOVE 0.0076 TO WS-SURCHARGE
               WHEN 123 ALSO SEASON-WINTER
                   MOVE 0.0094 TO WS-SURCHARGE
               WHEN 123 ALSO ANY
                   MOVE 0.0016 TO WS-SURCHARGE
               WHEN 124 ALSO SEASON-WINTER
                   MOVE 0.0010 TO WS-SURCHARGE
               WHEN 124 ALSO ANY
                   MOVE 0.0045 TO WS-SURCHARGE
               WHEN 125 ALSO SEASON-WINTER
                   MOVE 0.0023 TO WS-SURCHARGE
               WHEN 125 ALSO ANY
                   MOVE 0.0074 TO WS-SURCHARGE
               WHEN 126 ALSO SEASON-WINTER
                   MOVE 0.0036 TO WS-SURCHARGE
               WHEN 126 ALSO ANY
                   MOVE 0.0014 TO WS-SURCHARGE
               WHEN 127 ALSO SEASON-WINTER
                   MOVE 0.0049 TO WS-SURCHARGE
               WHEN 127 ALSO ANY
                   MOVE 0.0043 TO WS-SURCHARGE
               WHEN 128 ALSO SEASON-WINTER
                   MOVE 0.0062 TO WS-SURCHARGE
               WHEN 128 ALSO ANY
                   MOVE 0.0072 TO WS-SURCHARGE
               WHEN 129 ALSO SEASON-WINTER
                   MOVE 0.0075 TO WS-SURCHARGE
               WHEN 129 ALSO ANY
                   MOVE 0.0012 TO WS-SURCHARGE
               WHEN 130 ALSO SEASON-WINTER
                   MOVE 0.0088 TO WS-SURCHARGE
               WHEN 130 ALSO ANY
                   MOVE 0.0041 TO WS-SURCHARGE
               WHEN 131 ALSO SEASON-WINTER
                   MOVE 0.0004 TO WS-SURCHARGE
               WHEN 131 ALSO ANY
                   MOVE 0.0070 TO WS-SURCHARGE
               WHEN 132 ALSO SEASON-WINTER
                   MOVE 0.0017 TO WS-SURCHARGE
               WHEN 132 ALSO ANY
                   MOVE 0.0010 TO WS-SURCHARGE
               WHEN 133 ALSO SEASON-WINTER
                   MOVE 0.0030 TO WS-SURCHARGE
               WHEN 133 ALSO ANY
                   MOVE 0.0039 TO WS-SURCHARGE
               WHEN 134 ALSO SEASON-WINTER
                   MOVE 0.0043 TO WS-SURCHARGE
               WHEN 134 ALSO ANY
                   MOVE 0.0068 TO WS-SURCHARGE
               WHEN 135 ALSO SEASON-WINTER
                   MOVE 0.0056 TO WS-SURCHARGE
               WHEN 135 ALSO ANY
                   MOVE 0.0008 TO WS-SURCHARGE
               WHEN 136 ALSO SEASON-WINTER
                   MOVE 0.0069 TO WS-SURCHARGE
               WHEN 136 ALSO ANY
                   MOVE 0.0037 TO WS-SURCHARGE
               WHEN 137 ALSO SEASON-WINTER
                   MOVE 0.0082 TO WS-SURCHARGE
               WHEN 137 ALSO ANY
                   MOVE 0.0066 TO WS-SURCHARGE
               WHEN 138 ALSO SEASON-WINTER
                   MOVE 0.0095 TO WS-SURCHARGE
               WHEN 138 ALSO ANY
                   MOVE 0.0006 TO WS-SURCHARGE
               WHEN 139 ALSO SEASON-WINTER
                   MOVE 0.0011 TO WS-SURCHARGE
               WHEN 139 ALSO ANY
                   MOVE 0.0035 TO WS-SURCHARGE
               WHEN 140 ALSO SEASON-WINTER
                   MOVE 0.0024 TO WS-SURCHARGE
               WHEN 140 ALSO ANY
                   MOVE 0.0064 TO WS-SURCHARGE
      * sheet 3
               WHEN 141 ALSO SEASON-WINTER
                   MOVE 0.0037 TO WS-SURCHARGE
               WHEN 141 ALSO ANY
                   MOVE 0.0004 TO WS-SURCHARGE
               WHEN 142 ALSO SEASON-WINTER
                   MOVE 0.0050 TO WS-SURCHARGE
               WHEN 142 ALSO ANY
                   MOVE 0.0033 TO WS-SURCHARGE
               WHEN 143 ALSO SEASON-WINTER
                   MOVE 0.0063 TO WS-SURCHARGE
               WHEN 143 ALSO ANY
                   MOVE 0.0062 TO WS-SURCHARGE
               WHEN 144 ALSO SEASON-WINTER
                   MOVE 0.0076 TO WS-SURCHARGE
               WHEN 144 ALSO ANY
                   MOVE 0.0002 TO WS-SURCHARGE
               WHEN 145 ALSO SEASON-WINTER
                   MOVE 0.0089 TO WS-SURCHARGE
               WHEN 145 ALSO ANY
                   MOVE 0.0031 TO WS-SURCHARGE
               WHEN 146 ALSO SEASON-WINTER
                   MOVE 0.0005 TO WS-SURCHARGE
               WHEN 146 ALSO ANY
                   MOVE 0.0060 TO WS-SURCHARGE
               WHEN 147 ALSO SEASON-WINTER
                   MOVE 0.0018 TO WS-SURCHARGE
               WHEN 147 ALSO ANY
                   MOVE 0.0089 TO WS-SURCHARGE
               WHEN 148 ALSO SEASON-WINTER
                   MOVE 0.0031 TO WS-SURCHARGE
               WHEN 148 ALSO ANY
                   MOVE 0.0029 TO WS-SURCHARGE
               WHEN 149 ALSO SEASON-WINTER
                   MOVE 0.0044 TO WS-SURCHARGE
               WHEN 149 ALSO ANY
                   MOVE 0.0058 TO WS-SURCHARGE
               WHEN 150 ALSO SEASON-WINTER
                   MOVE 0.0057 TO WS-SURCHARGE
               WHEN 150 ALSO ANY
                   MOVE 0.0087 TO WS-SURCHARGE
               WHEN 151 ALSO SEASON-WINTER
                   MOVE 0.0070 TO WS-SURCHARGE
               WHEN 151 ALSO ANY
                   MOVE 0.0027 TO WS-SURCHARGE
               WHEN 152 ALSO SEASON-WINTER
                   MOVE 0.0083 TO WS-SURCHARGE
               WHEN 152 ALSO ANY
                   MOVE 0.0056 TO WS-SURCHARGE
               WHEN 153 ALSO SEASON-WINTER
                   MOVE 0.0096 TO WS-SURCHARGE
               WHEN 153 ALSO ANY
                   MOVE 0.0085 TO WS-SURCHARGE
               WHEN 154 ALSO SEASON-WINTER
                   MOVE 0.0012 TO WS-SURCHARGE
               WHEN 154 ALSO ANY
                   MOVE 0.0025 TO WS-SURCHARGE
               WHEN 155 ALSO SEASON-WINTER
                   MOVE 0.0025 TO WS-SURCHARGE
               WHEN 155 ALSO ANY
                   MOVE 0.0054 TO WS-SURCHARGE
               WHEN 156 ALSO SEASON-WINTER
                   MOVE 0.0038 TO WS-SURCHARGE
               WHEN 156 ALSO ANY
                   MOVE 0.0083 TO WS-SURCHARGE
               WHEN 157 ALSO SEASON-WINTER
                   MOVE 0.0051 TO WS-SURCHARGE
               WHEN 157 ALSO ANY
                   MOVE 0.0023 TO WS-SURCHARGE
               WHEN 158 ALSO SEASON-WINTER
                   MOVE 0.0064 TO WS-SURCHARGE
               WHEN 158 ALSO ANY
                   MOVE 0.0052 TO WS-SURCHARGE
               WHEN 159 ALSO SEASON-WINTER
                   MOVE 0.0077 TO WS-SURCHARGE
               WHEN 159 ALSO ANY
                   MOVE 0.0081 TO WS-SURCHARGE
               WHEN 160 ALSO SEASON-WINTER
                   MOVE 0.0090 TO WS-SURCHARGE
               WHEN 160 ALSO ANY
                   MOVE 0.0021 TO WS-SURCHARGE
      * sheet 4
               WHEN 161 ALSO SEASON-WINTER
                   MOVE 0.0006 TO WS-SURCHARGE
               WHEN 161 ALSO ANY
                   MOVE 0.0050 TO WS-SURCHARGE
               WHEN 162 ALSO SEASON-WINTER
                   MOVE 0.0019 TO WS-SURCHARGE
               WHEN 162 ALSO ANY
                   MOVE 0.0079 TO WS-SURCHARGE
               WHEN 163 ALSO SEASON-WINTER
                   MOVE 0.0032 TO WS-SURCHARGE
               WHEN 163 ALSO ANY
                   MOVE 0.0019 TO WS-SURCHARGE
               WHEN 164 ALSO SEASON-WINTER
                   MOVE 0.0045 TO WS-SURCHARGE
               WHEN 164 ALSO ANY
                   MOVE 0.0048 TO WS-SURCHARGE
               WHEN 165 ALSO SEASON-WINTER
                   MOVE 0.0058 TO WS-SURCHARGE
               WHEN 165 ALSO ANY
                   MOVE 0.0077 TO WS-SURCHARGE
               WHEN 166 ALSO SEASON-WINTER
                   MOVE 0.0071 TO WS-SURCHARGE
               WHEN 166 ALSO ANY
                   MOVE 0.0017 TO WS-SURCHARGE
               WHEN 167 ALSO SEASON-WINTER
                   MOVE 0.0084 TO WS-SURCHARGE
               WHEN 167 ALSO ANY
                   MOVE 0.0046 TO WS-SURCHARGE
               WHEN 168 ALSO SEASON-WINTER
                   MOVE 0.0097 TO WS-SURCHARGE
               WHEN 168 ALSO ANY
                   MOVE 0.0075 TO WS-SURCHARGE
               WHEN 169 ALSO SEASON-WINTER
                   MOVE 0.0013 TO WS-SURCHARGE
               WHEN 169 ALSO ANY
                   MOVE 0.0015 TO WS-SURCHARGE
               WHEN 170 ALSO SEASON-WINTER
                   MOVE 0.0026 TO WS-SURCHARGE
               WHEN 170 ALSO ANY
                   MOVE 0.0044 TO WS-SURCHARGE
               WHEN 171 ALSO SEASON-WINTER
                   MOVE 0.0039 TO WS-SURCHARGE
               WHEN 171 ALSO ANY
                   MOVE 0.0073 TO WS-SURCHARGE
               WHEN 172 ALSO SEASON-WINTER
                   MOVE 0.0052 TO WS-SURCHARGE
               WHEN 172 ALSO ANY
                   MOVE 0.0013 TO WS-SURCHARGE
               WHEN 173 ALSO SEASON-WINTER
                   MOVE 0.0065 TO WS-SURCHARGE
               WHEN 173 ALSO ANY
                   MOVE 0.0042 TO WS-SURCHARGE
               WHEN 174 ALSO SEASON-WINTER
                   MOVE 0.0078 TO WS-SURCHARGE
               WHEN 174 ALSO ANY
                   MOVE 0.0071 TO WS-SURCHARGE
               WHEN 175 ALSO SEASON-WINTER
                   MOVE 0.0091 TO WS-SURCHARGE
               WHEN 175 ALSO ANY
                   MOVE 0.0011 TO WS-SURCHARGE
               WHEN 176 ALSO SEASON-WINTER
                   MOVE 0.0007 TO WS-SURCHARGE
               WHEN 176 ALSO ANY
                   MOVE 0.0040 TO WS-SURCHARGE
               WHEN 177 ALSO SEASON-WINTER
                   MOVE 0.0020 TO WS-SURCHARGE
               WHEN 177 ALSO ANY
                   MOVE 0.0069 TO WS-SURCHARGE
               WHEN 178 ALSO SEASON-WINTER
                   MOVE 0.0033 TO WS-SURCHARGE
               WHEN 178 ALSO ANY
                   MOVE 0.0009 TO WS-SURCHARGE
               WHEN 179 ALSO SEASON-WINTER
                   MOVE 0.0046 TO WS-SURCHARGE
               WHEN 179 ALSO ANY
                   MOVE 0.0038 TO WS-SURCHARGE
               WHEN 180 ALSO SEASON-WINTER
                   MOVE 0.0059 TO WS-SURCHARGE
               WHEN 180 ALSO ANY
                   MOVE 0.0067 TO WS-SURCHARGE
      * sheet 5
               WHEN 181 ALSO SEASON-WINTER
                   MOVE 0.0072 TO WS-SURCHARGE
               WHEN 181 ALSO ANY
                   MOVE 0.0007 TO WS-SURCHARGE
               WHEN 182 ALSO SEASON-WINTER
                   MOVE 0.0085 TO WS-SURCHARGE
               WHEN 182 ALSO ANY
                   MOVE 0.0036 TO WS-SURCHARGE
               WHEN 183 ALSO SEASON-WINTER
                   MOVE 0.0098 TO WS-SURCHARGE
               WHEN 183 ALSO ANY
                   MOVE 0.0065 TO WS-SURCHARGE
               WHEN 184 ALSO SEASON-WINTER
                   MOVE 0.0014 TO WS-SURCHARGE
               WHEN 184 ALSO ANY
                   MOVE 0.0005 TO WS-SURCHARGE
               WHEN 185 ALSO SEASON-WINTER
                   MOVE 0.0027 TO WS-SURCHARGE
               WHEN 185 ALSO ANY
                   MOVE 0.0034 TO WS-SURCHARGE
               WHEN 186 ALSO SEASON-WINTER
                   MOVE 0.0040 TO WS-SURCHARGE
               WHEN 186 ALSO ANY
                   MOVE 0.0063 TO WS-SURCHARGE
               WHEN 187 ALSO SEASON-WINTER
                   MOVE 0.0053 TO WS-SURCHARGE
               WHEN 187 ALSO ANY
                   MOVE 0.0003 TO WS-SURCHARGE
               WHEN 188 ALSO SEASON-WINTER
                   MOVE 0.0066 TO WS-SURCHARGE
               WHEN 188 ALSO ANY
                   MOVE 0.0032 TO WS-SURCHARGE
               WHEN 189 ALSO SEASON-WINTER
                   MOVE 0.0079 TO WS-SURCHARGE
               WHEN 189 ALSO ANY
                   MOVE 0.0061 TO WS-SURCHARGE
               WHEN 190 ALSO SEASON-WINTER
                   MOVE 0.0092 TO WS-SURCHARGE
               WHEN 190 ALSO ANY
                   MOVE 0.0001 TO WS-SURCHARGE
               WHEN 191 ALSO SEASON-WINTER
                   MOVE 0.0008 TO WS-SURCHARGE
               WHEN 191 ALSO ANY
                   MOVE 0.0030 TO WS-SURCHARGE
               WHEN 192 ALSO SEASON-WINTER
                   MOVE 0.0021 TO WS-SURCHARGE
               WHEN 192 ALSO ANY
                   MOVE 0.0059 TO WS-SURCHARGE
               WHEN 193 ALSO SEASON-WINTER
                   MOVE 0.0034 TO WS-SURCHARGE
               WHEN 193 ALSO ANY
                   MOVE 0.0088 TO WS-SURCHARGE
               WHEN 194 ALSO SEASON-WINTER
                   MOVE 0.0047 TO WS-SURCHARGE
               WHEN 194 ALSO ANY
                   MOVE 0.0028 TO WS-SURCHARGE
               WHEN 195 ALSO SEASON-WINTER
                   MOVE 0.0060 TO WS-SURCHARGE
               WHEN 195 ALSO ANY
                   MOVE 0.0057 TO WS-SURCHARGE
               WHEN 196 ALSO SEASON-WINTER
                   MOVE 0.0073 TO WS-SURCHARGE
               WHEN 196 ALSO ANY
                   MOVE 0.0086 TO WS-SURCHARGE
               WHEN 197 ALSO SEASON-WINTER
                   MOVE 0.0086 TO WS-SURCHARGE
               WHEN 197 ALSO ANY
                   MOVE 0.0026 TO WS-SURCHARGE
               WHEN 198 ALSO SEASON-WINTER
                   MOVE 0.0002 TO WS-SURCHARGE
               WHEN 198 ALSO ANY
                   MOVE 0.0055 TO WS-SURCHARGE
               WHEN 199 ALSO SEASON-WINTER
                   MOVE 0.0015 TO WS-SURCHARGE
               WHEN 199 ALSO ANY
                   MOVE 0.0084 TO WS-SURCHARGE
               WHEN 200 ALSO SEASON-WINTER
                   MOVE 0.0028 TO WS-SURCHARGE
               WHEN 200 ALSO ANY
                   MOVE 0.0024 TO WS-SURCHARGE
      * sheet 6
               WHEN 201 ALSO SEASON-WINTER
                   MOVE 0.0041 TO WS-SURCHARGE
               WHEN 201 ALSO ANY
                   MOVE 0.0053 TO WS-SURCHARGE
               WHEN 202 ALSO SEASON-WINTER
                   MOVE 0.0054 TO WS-SURCHARGE
               WHEN 202 ALSO ANY
                   MOVE 0.0082 TO WS-SURCHARGE
               WHEN 203 ALSO SEASON-WINTER
                   MOVE 0.0067 TO WS-SURCHARGE
               WHEN 203 ALSO ANY
                   MOVE 0.0022 TO WS-SURCHARGE
               WHEN 204 ALSO SEASON-WINTER
                   MOVE 0.0080 TO WS-SURCHARGE
               WHEN 204 ALSO ANY
                   MOVE 0.0051 TO WS-SURCHARGE
               WHEN 205 ALSO SEASON-WINTER
                   MOVE 0.0093 TO WS-SURCHARGE
               WHEN 205 ALSO ANY
                   MOVE 0.0080 TO WS-SURCHARGE
               WHEN 206 ALSO SEASON-WINTER
                   MOVE 0.0009 TO WS-SURCHARGE
               WHEN 206 ALSO ANY
                   MOVE 0.0020 TO WS-SURCHARGE
               WHEN 207 ALSO SEASON-WINTER
                   MOVE 0.0022 TO WS-SURCHARGE
               WHEN 207 ALSO ANY
                   MOVE 0.0049 TO WS-SURCHARGE
               WHEN 208 ALSO SEASON-WINTER
                   MOVE 0.0035 TO WS-SURCHARGE
               WHEN 208 ALSO ANY
                   MOVE 0.0078 TO WS-SURCHARGE
               WHEN 209 ALSO SEASON-WINTER
                   MOVE 0.0048 TO WS-SURCHARGE
               WHEN 209 ALSO ANY
                   MOVE 0.0018 TO WS-SURCHARGE
               WHEN 210 ALSO SEASON-WINTER
                   MOVE 0.0061 TO WS-SURCHARGE
               WHEN 210 ALSO ANY
                   MOVE 0.0047 TO WS-SURCHARGE
               WHEN 211 ALSO SEASON-WINTER
                   MOVE 0.0074 TO WS-SURCHARGE
               WHEN 211 ALSO ANY
                   MOVE 0.0076 TO WS-SURCHARGE
               WHEN 212 ALSO SEASON-WINTER
                   MOVE 0.0087 TO WS-SURCHARGE
               WHEN 212 ALSO ANY
                   MOVE 0.0016 TO WS-SURCHARGE
               WHEN 213 ALSO SEASON-WINTER
                   MOVE 0.0003 TO WS-SURCHARGE
               WHEN 213 ALSO ANY
                   MOVE 0.0045 TO WS-SURCHARGE
               WHEN 214 ALSO SEASON-WINTER
                   MOVE 0.0016 TO WS-SURCHARGE
               WHEN 214 ALSO ANY
                   MOVE 0.0074 TO WS-SURCHARGE
               WHEN 215 ALSO SEASON-WINTER
                   MOVE 0.0029 TO WS-SURCHARGE
               WHEN 215 ALSO ANY
                   MOVE 0.0014 TO WS-SURCHARGE
               WHEN 216 ALSO SEASON-WINTER
                   MOVE 0.0042 TO WS-SURCHARGE
               WHEN 216 ALSO ANY
                   MOVE 0.0043 TO WS-SURCHARGE
               WHEN 217 ALSO SEASON-WINTER
                   MOVE 0.0055 TO WS-SURCHARGE
               WHEN 217 ALSO ANY
                   MOVE 0.0072 TO WS-SURCHARGE
               WHEN 218 ALSO SEASON-WINTER
                   MOVE 0.0068 TO WS-SURCHARGE
               WHEN 218 ALSO ANY
                   MOVE 0.0012 TO WS-SURCHARGE
               WHEN 219 ALSO SEASON-WINTER
                   MOVE 0.0081 TO WS-SURCHARGE
               WHEN 219 ALSO ANY
                   MOVE 0.0041 TO WS-SURCHARGE
               WHEN 220 ALSO SEASON-WINTER
                   MOVE 0.0094 TO WS-SURCHARGE
               WHEN 220 ALSO ANY
                   MOVE 0.0070 TO WS-SURCHARGE
      * sheet 7
               WHEN 221 ALSO SEASON-WINTER
                   MOVE 0.0010 TO WS-SURCHARGE
               WHEN 221 ALSO ANY
                   MOVE 0.0010 TO WS-SURCHARGE
               WHEN 222 ALSO SEASON-WINTER
                   MOVE 0.0023 TO WS-SURCHARGE
               WHEN 222 ALSO ANY
                   MOVE 0.0039 TO WS-SURCHARGE
               WHEN 223 ALSO SEASON-WINTER
                   MOVE 0.0036 TO WS-SURCHARGE
               WHEN 223 ALSO ANY
                   MOVE 0.0068 TO WS-SURCHARGE
               WHEN 224 ALSO SEASON-WINTER
                   MOVE 0.0049 TO WS-SURCHARGE
               WHEN 224 ALSO ANY
                   MOVE 0.0008 TO WS-SURCHARGE
               WHEN 225 ALSO SEASON-WINTER
                   MOVE 0.0062 TO WS-SURCHARGE
               WHEN 225 ALSO ANY
                   MOVE 0.0037 TO WS-SURCHARGE
               WHEN 226 ALSO SEASON-WINTER
                   MOVE 0.0075 TO WS-SURCHARGE
               WHEN 226 ALSO ANY
                   MOVE 0.0066 TO WS-SURCHARGE
               WHEN 227 ALSO SEASON-WINTER
                   MOVE 0.0088 TO WS-SURCHARGE
               WHEN 227 ALSO ANY
                   MOVE 0.0006 TO WS-SURCHARGE
               WHEN 228 ALSO SEASON-WINTER
                   MOVE 0.0004 TO WS-SURCHARGE
               WHEN 228 ALSO ANY
                   MOVE 0.0035 TO WS-SURCHARGE
               WHEN 229 ALSO SEASON-WINTER
                   MOVE 0.0017 TO WS-SURCHARGE
               WHEN 229 ALSO ANY
                   MOVE 0.0064 TO WS-SURCHARGE
               WHEN 230 ALSO SEASON-WINTER
                   MOVE 0.0030 TO WS-SURCHARGE
               WHEN 230 ALSO ANY
                   MOVE 0.0004 TO WS-SURCHARGE
               WHEN 231 ALSO SEASON-WINTER
                   MOVE 0.0043 TO WS-SURCHARGE
               WHEN 231 ALSO ANY
                   MOVE 0.0033 TO WS-SURCHARGE
               WHEN 232 ALSO SEASON-WINTER
                   MOVE 0.0056 TO WS-SURCHARGE
               WHEN 232 ALSO ANY
                   MOVE 0.0062 TO WS-SURCHARGE
               WHEN 233 ALSO SEASON-WINTER
                   MOVE 0.0069 TO WS-SURCHARGE
               WHEN 233 ALSO ANY
                   MOVE 0.0002 TO WS-SURCHARGE
               WHEN 234 ALSO SEASON-WINTER
                   MOVE 0.0082 TO WS-SURCHARGE
               WHEN 234 ALSO ANY
                   MOVE 0.0031 TO WS-SURCHARGE
               WHEN 235 ALSO SEASON-WINTER
                   MOVE 0.0095 TO WS-SURCHARGE
               WHEN 235 ALSO ANY
                   MOVE 0.0060 TO WS-SURCHARGE
               WHEN 236 ALSO SEASON-WINTER
                   MOVE 0.0011 TO WS-SURCHARGE
               WHEN 236 ALSO ANY
                   MOVE 0.0089 TO WS-SURCHARGE
               WHEN 237 ALSO SEASON-WINTER
                   MOVE 0.0024 TO WS-SURCHARGE
               WHEN 237 ALSO ANY
                   MOVE 0.0029 TO WS-SURCHARGE
               WHEN 238 ALSO SEASON-WINTER
                   MOVE 0.0037 TO WS-SURCHARGE
               WHEN 238 ALSO ANY
                   MOVE 0.0058 TO WS-SURCHARGE
               WHEN 239 ALSO SEASON-WINTER
                   MOVE 0.0050 TO WS-SURCHARGE
               WHEN 239 ALSO ANY
                   MOVE 0.0087 TO WS-SURCHARGE
               WHEN 240 ALSO SEASON-WINTER
                   MOVE 0.0063 TO WS-SURCHARGE
               WHEN 240 ALSO ANY
                   MOVE 0.0027 TO WS-SURCHARGE
      * sheet 8
               WHEN 241 ALSO SEASON-WINTER
                   MOVE 0.0076 TO WS-SURCHARGE
               WHEN 241 ALSO ANY
                   MOVE 0.0056 TO WS-SURCHARGE
               WHEN 242 ALSO SEASON-WINTER
                   MOVE 0.0089 TO WS-SURCHARGE
               WHEN 242 ALSO ANY
                   MOVE 0.0085 TO WS-SURCHARGE
               WHEN 243 ALSO SEASON-WINTER
                   MOVE 0.0005 TO WS-SURCHARGE
               WHEN 243 ALSO ANY
                   MOVE 0.0025 TO WS-SURCHARGE
               WHEN 244 ALSO SEASON-WINTER
                   MOVE 0.0018 TO WS-SURCHARGE
               WHEN 244 ALSO ANY
                   MOVE 0.0054 TO WS-SURCHARGE
               WHEN 245 ALSO SEASON-WINTER
                   MOVE 0.0031 TO WS-SURCHARGE
               WHEN 245 ALSO ANY
                   MOVE 0.0083 TO WS-SURCHARGE
               WHEN 246 ALSO SEASON-WINTER
                   MOVE 0.0044 TO WS-SURCHARGE
               WHEN 246 ALSO ANY
                   MOVE 0.0023 TO WS-SURCHARGE
               WHEN 247 ALSO SEASON-WINTER
                   MOVE 0.0057 TO WS-SURCHARGE
               WHEN 247 ALSO ANY
                   MOVE 0.0052 TO WS-SURCHARGE
               WHEN 248 ALSO SEASON-WINTER
                   MOVE 0.0070 TO WS-SURCHARGE
               WHEN 248 ALSO ANY
                   MOVE 0.0081 TO WS-SURCHARGE
               WHEN 249 ALSO SEASON-WINTER
                   MOVE 0.0083 TO WS-SURCHARGE
               WHEN 249 ALSO ANY
                   MOVE 0.0021 TO WS-SURCHARGE
               WHEN 250 ALSO SEASON-WINTER
                   MOVE 0.0096 TO WS-SURCHARGE
               WHEN 250 ALSO ANY
                   MOVE 0.0050 TO WS-SURCHARGE
               WHEN 251 ALSO SEASON-WINTER
                   MOVE 0.0012 TO WS-SURCHARGE
               WHEN 251 ALSO ANY
                   MOVE 0.0079 TO WS-SURCHARGE
               WHEN 252 ALSO SEASON-WINTER
                   MOVE 0.0025 TO WS-SURCHARGE
               WHEN 252 ALSO ANY
                   MOVE 0.0019 TO WS-SURCHARGE
               WHEN 253 ALSO SEASON-WINTER
                   MOVE 0.0038 TO WS-SURCHARGE
               WHEN 253 ALSO ANY
                   MOVE 0.0048 TO WS-SURCHARGE
               WHEN 254 ALSO SEASON-WINTER
                   MOVE 0.0051 TO WS-SURCHARGE
               WHEN 254 ALSO ANY
                   MOVE 0.0077 TO WS-SURCHARGE
               WHEN 255 ALSO SEASON-WINTER
                   MOVE 0.0064 TO WS-SURCHARGE
               WHEN 255 ALSO ANY
                   MOVE 0.0017 TO WS-SURCHARGE
               WHEN 256 ALSO SEASON-WINTER
                   MOVE 0.0077 TO WS-SURCHARGE
               WHEN 256 ALSO ANY
                   MOVE 0.0046 TO WS-SURCHARGE
               WHEN 257 ALSO SEASON-WINTER
                   MOVE 0.0090 TO WS-SURCHARGE
               WHEN 257 ALSO ANY
                   MOVE 0.0075 TO WS-SURCHARGE
               WHEN 258 ALSO SEASON-WINTER
                   MOVE 0.0006 TO WS-SURCHARGE
               WHEN 258 ALSO ANY
                   MOVE 0.0015 TO WS-SURCHARGE
               WHEN 259 ALSO SEASON-WINTER
                   MOVE 0.0019 TO WS-SURCHARGE
               WHEN 259 ALSO ANY
                   MOVE 0.0044 TO WS-SURCHARGE
               WHEN 260 ALSO SEASON-WINTER
                   MOVE 0.0032 TO WS-SURCHARGE
               WHEN 260 ALSO ANY
                   MOVE 0.0073 TO WS-SURCHARGE
      * sheet 9
               WHEN 261 ALSO SEASON-WINTER
                   MOVE 0.0045 TO WS-SURCHARGE
               WHEN 261 ALSO ANY
                   MOVE 0.0013 TO WS-SURCHARGE
               WHEN 262 ALSO SEASON-WINTER
                   MOVE 0.0058 TO WS-SURCHARGE
               WHEN 262 ALSO ANY
                   MOVE 0.0042 TO WS-SURCHARGE
               WHEN 263 ALSO SEASON-WINTER
                   MOVE 0.0071 TO WS-SURCHARGE
               WHEN 263 ALSO ANY
                   MOVE 0.0071 TO WS-SURCHARGE
               WHEN 264 ALSO SEASON-WINTER
                   MOVE 0.0084 TO WS-SURCHARGE
               WHEN 264 ALSO ANY
                   MOVE 0.0011 TO WS-SURCHARGE
               WHEN 265 ALSO SEASON-WINTER
                   MOVE 0.0097 TO WS-SURCHARGE
               WHEN 265 ALSO ANY
                   MOVE 0.0040 TO WS-SURCHARGE
               WHEN 266 ALSO SEASON-WINTER
                   MOVE 0.0013 TO WS-SURCHARGE
               WHEN 266 ALSO ANY
                   MOVE 0.0069 TO WS-SURCHARGE
               WHEN 267 ALSO SEASON-WINTER
                   MOVE 0.0026 TO WS-SURCHARGE
               WHEN 267 ALSO ANY
                   MOVE 0.0009 TO WS-SURCHARGE
               WHEN 268 ALSO SEASON-WINTER
                   MOVE 0.0039 TO WS-SURCHARGE
               WHEN 268 ALSO ANY
                   MOVE 0.0038 TO WS-SURCHARGE
               WHEN 269 ALSO SEASON-WINTER
                   MOVE 0.0052 TO WS-SURCHARGE
               WHEN 269 ALSO ANY
                   MOVE 0.0067 TO WS-SURCHARGE
               WHEN 270 ALSO SEASON-WINTER
                   MOVE 0.0065 TO WS-SURCHARGE
               WHEN 270 ALSO ANY
                   MOVE 0.0007 TO WS-SURCHARGE
               WHEN 271 ALSO SEASON-WINTER
                   MOVE 0.0078 TO WS-SURCHARGE
               WHEN 271 ALSO ANY
                   MOVE 0.0036 TO WS-SURCHARGE
               WHEN 272 ALSO SEASON-WINTER
                   MOVE 0.0091 TO WS-SURCHARGE
               WHEN 272 ALSO ANY
                   MOVE 0.0065 TO WS-SURCHARGE
               WHEN 273 ALSO SEASON-WINTER
                   MOVE 0.0007 TO WS-SURCHARGE
               WHEN 273 ALSO ANY
                   MOVE 0.0005 TO WS-SURCHARGE
               WHEN 274 ALSO SEASON-WINTER
                   MOVE 0.0020 TO WS-SURCHARGE
               WHEN 274 ALSO ANY
                   MOVE 0.0034 TO WS-SURCHARGE
               WHEN 275 ALSO SEASON-WINTER
                   MOVE 0.0033 TO WS-SURCHARGE
               WHEN 275 ALSO ANY
                   MOVE 0.0063 TO WS-SURCHARGE
               WHEN 276 ALSO SEASON-WINTER
                   MOVE 0.0046 TO WS-SURCHARGE
               WHEN 276 ALSO ANY
                   MOVE 0.0003 TO WS-SURCHARGE
               WHEN 277 ALSO SEASON-WINTER
                   MOVE 0.0059 TO WS-SURCHARGE
               WHEN 277 ALSO ANY
                   MOVE 0.0032 TO WS-SURCHARGE
               WHEN 278 ALSO SEASON-WINTER
                   MOVE 0.0072 TO WS-SURCHARGE
               WHEN 278 ALSO ANY
                   MOVE 0.0061 TO WS-SURCHARGE
               WHEN 279 ALSO SEASON-WINTER
                   MOVE 0.0085 TO WS-SURCHARGE
               WHEN 279 ALSO ANY
                   MOVE 0.0001 TO WS-SURCHARGE
               WHEN 280 ALSO SEASON-WINTER
                   MOVE 0.0098 TO WS-SURCHARGE
               WHEN 280 ALSO ANY
                   MOVE 0.0030 TO WS-SURCHARGE
      * sheet 10
               WHEN 281 ALSO SEASON-WINTER
                   MOVE 0.0014 TO WS-SURCHARGE
               WHEN 281 ALSO ANY
                   MOVE 0.0059 TO WS-SURCHARGE
               WHEN 282 ALSO SEASON-WINTER
                   MOVE 0.0027 TO WS-SURCHARGE
               WHEN 282 ALSO ANY
                   MOVE 0.0088 TO WS-SURCHARGE
               WHEN 283 ALSO SEASON-WINTER
                   MOVE 0.0040 TO WS-SURCHARGE
               WHEN 283 ALSO ANY
                   MOVE 0.0028 TO WS-SURCHARGE
               WHEN 284 ALSO SEASON-WINTER
                   MOVE 0.0053 TO WS-SURCHARGE
               WHEN 284 ALSO ANY
                   MOVE 0.0057 TO WS-SURCHARGE
               WHEN 285 ALSO SEASON-WINTER
                   MOVE 0.0066 TO WS-SURCHARGE
               WHEN 285 ALSO ANY
                   MOVE 0.0086 TO WS-SURCHARGE
               WHEN 286 ALSO SEASON-WINTER
                   MOVE 0.0079 TO WS-SURCHARGE
               WHEN 286 ALSO ANY
                   MOVE 0.0026 TO WS-SURCHARGE
               WHEN 287 ALSO SEASON-WINTER
                   MOVE 0.0092 TO WS-SURCHARGE
               WHEN 287 ALSO ANY
                   MOVE 0.0055 TO WS-SURCHARGE
               WHEN 288 ALSO SEASON-WINTER
                   MOVE 0.0008 TO WS-SURCHARGE
               WHEN 288 ALSO ANY
                   MOVE 0.0084 TO WS-SURCHARGE
               WHEN 289 ALSO SEASON-WINTER
                   MOVE 0.0021 TO WS-SURCHARGE
               WHEN 289 ALSO ANY
                   MOVE 0.0024 TO WS-SURCHARGE
               WHEN 290 ALSO SEASON-WINTER
                   MOVE 0.0034 TO WS-SURCHARGE
               WHEN 290 ALSO ANY
                   MOVE 0.0053 TO WS-SURCHARGE
               WHEN 291 ALSO SEASON-WINTER
                   MOVE 0.0047 TO WS-SURCHARGE
               WHEN 291 ALSO ANY
                   MOVE 0.0082 TO WS-SURCHARGE
               WHEN 292 ALSO SEASON-WINTER
                   MOVE 0.0060 TO WS-SURCHARGE
               WHEN 292 ALSO ANY
                   MOVE 0.0022 TO WS-SURCHARGE
               WHEN 293 ALSO SEASON-WINTER
                   MOVE 0.0073 TO WS-SURCHARGE
               WHEN 293 ALSO ANY
                   MOVE 0.0051 TO WS-SURCHARGE
               WHEN 294 ALSO SEASON-WINTER
                   MOVE 0.0086 TO WS-SURCHARGE
               WHEN 294 ALSO ANY
                   MOVE 0.0080 TO WS-SURCHARGE
               WHEN 295 ALSO SEASON-WINTER
                   MOVE 0.0002 TO WS-SURCHARGE
               WHEN 295 ALSO ANY
                   MOVE 0.0020 TO WS-SURCHARGE
               WHEN 296 ALSO SEASON-WINTER
                   MOVE 0.0015 TO WS-SURCHARGE
               WHEN 296 ALSO ANY
                   MOVE 0.0049 TO WS-SURCHARGE
               WHEN 297 ALSO SEASON-WINTER
                   MOVE 0.0028 TO WS-SURCHARGE
               WHEN 297 ALSO ANY
                   MOVE 0.0078 TO WS-SURCHARGE
               WHEN 298 ALSO SEASON-WINTER
                   MOVE 0.0041 TO WS-SURCHARGE
               WHEN 298 ALSO ANY
                   MOVE 0.0018 TO WS-SURCHARGE
               WHEN 299 ALSO SEASON-WINTER
                   MOVE 0.0054 TO WS-SURCHARGE
               WHEN 299 ALSO ANY
                   MOVE 0.0047 TO WS-SURCHARGE
               WHEN 300 ALSO SEASON-WINTER
                   MOVE 0.0067 TO WS-SURCHARGE
               WHEN 300 ALSO ANY
                   MOVE 0.0076 TO WS-SURCHARGE
      * sheet 11
               WHEN 301 ALSO SEASON-WINTER
                   MOVE 0.0080 TO WS-SURCHARGE
               WHEN 301 ALSO ANY
                   MOVE 0.0016 TO WS-SURCHARGE
               WHEN 302 ALSO SEASON-WINTER
                   MOVE 0.0093 TO WS-SURCHARGE
               WHEN 302 ALSO ANY
                   MOVE 0.0045 TO WS-SURCHARGE
               WHEN 303 ALSO SEASON-WINTER
                   MOVE 0.0009 TO WS-SURCHARGE
               WHEN 303 ALSO ANY
                   MOVE 0.0074 TO WS-SURCHARGE
               WHEN 304 ALSO SEASON-WINTER
                   MOVE 0.0022 TO WS-SURCHARGE
               WHEN 304 ALSO ANY
                   MOVE 0.0014 TO WS-SURCHARGE
               WHEN 305 ALSO SEASON-WINTER
                   MOVE 0.0035 TO WS-SURCHARGE
               WHEN 305 ALSO ANY
                   MOVE 0.0043 TO WS-SURCHARGE
               WHEN 306 ALSO SEASON-WINTER
                   MOVE 0.0048 TO WS-SURCHARGE
               WHEN 306 ALSO ANY
                   MOVE 0.0072 TO WS-SURCHARGE
               WHEN 307 ALSO SEASON-WINTER
                   MOVE 0.0061 TO WS-SURCHARGE
               WHEN 307 ALSO ANY
                   MOVE 0.0012 TO WS-SURCHARGE
               WHEN 308 ALSO SEASON-WINTER
                   MOVE 0.0074 TO WS-SURCHARGE
               WHEN 308 ALSO ANY
                   MOVE 0.0041 TO WS-SURCHARGE
               WHEN 309 ALSO SEASON-WINTER
                   MOVE 0.0087 TO WS-SURCHARGE
               WHEN 309 ALSO ANY
                   MOVE 0.0070 TO WS-SURCHARGE
               WHEN 310 ALSO SEASON-WINTER
                   MOVE 0.0003 TO WS-SURCHARGE
               WHEN 310 ALSO ANY
                   MOVE 0.0010 TO WS-SURCHARGE
               WHEN 311 ALSO SEASON-WINTER
                   MOVE 0.0016 TO WS-SURCHARGE
               WHEN 311 ALSO ANY
                   MOVE 0.0039 TO WS-SURCHARGE
               WHEN 312 ALSO SEASON-WINTER
                   MOVE 0.0029 TO WS-SURCHARGE
               WHEN 312 ALSO ANY
                   MOVE 0.0068 TO WS-SURCHARGE
               WHEN 313 ALSO SEASON-WINTER
                   MOVE 0.0042 TO WS-SURCHARGE
               WHEN 313 ALSO ANY
                   MOVE 0.0008 TO WS-SURCHARGE
               WHEN 314 ALSO SEASON-WINTER
                   MOVE 0.0055 TO WS-SURCHARGE
               WHEN 314 ALSO ANY
                   MOVE 0.0037 TO WS-SURCHARGE
               WHEN 315 ALSO SEASON-WINTER
                   MOVE 0.0068 TO WS-SURCHARGE
               WHEN 315 ALSO ANY
                   MOVE 0.0066 TO WS-SURCHARGE
               WHEN 316 ALSO SEASON-WINTER
                   MOVE 0.0081 TO WS-SURCHARGE
               WHEN 316 ALSO ANY
                   MOVE 0.0006 TO WS-SURCHARGE
               WHEN 317 ALSO SEASON-WINTER
                   MOVE 0.0094 TO WS-SURCHARGE
               WHEN 317 ALSO ANY
                   MOVE 0.0035 TO WS-SURCHARGE
               WHEN 318 ALSO SEASON-WINTER
                   MOVE 0.0010 TO WS-SURCHARGE
               WHEN 318 ALSO ANY
                   MOVE 0.0064 TO WS-SURCHARGE
               WHEN 319 ALSO SEASON-WINTER
                   MOVE 0.0023 TO WS-SURCHARGE
               WHEN 319 ALSO ANY
                   MOVE 0.0004 TO WS-SURCHARGE
               WHEN 320 ALSO SEASON-WINTER
                   MOVE 0.0036 TO WS-SURCHARGE
               WHEN 320 ALSO ANY
                   MOVE 0.0033 TO WS-SURCHARGE
               WHEN OTHER
                   SET RATE-UNKNOWN-DISTRICT TO TRUE
           END-EVALUATE.
      *----------------------------------------------------------------
      * Reliefs by decree. A decree is a sentence.
      *----------------------------------------------------------------
       RELIEFS SECTION.
       RELIEF-BY-DECREE.
      * Decree 1962/1: north bank
           IF RATE-DISTRICT = 101 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 1963
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1962/2: south bank
           IF RATE-DISTRICT = 102 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 1963
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1962/3: old town
           IF RATE-DISTRICT = 103 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 1963
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1962/4: harbour
           IF RATE-DISTRICT = 104 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 1963
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1963/1: hills
           IF RATE-DISTRICT = 105 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 1964
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1963/2: moor
           IF RATE-DISTRICT = 106 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 1964
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1963/3: mills
           IF RATE-DISTRICT = 107 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 1964
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1963/4: station
           IF RATE-DISTRICT = 108 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 1964
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1964/1: meadows
           IF RATE-DISTRICT = 109 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 1965
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1964/2: ferry
           IF RATE-DISTRICT = 110 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 1965
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1964/3: north bank
           IF RATE-DISTRICT = 111 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 1965
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1964/4: south bank
           IF RATE-DISTRICT = 112 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 1965
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1965/1: old town
           IF RATE-DISTRICT = 113 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 1966
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1965/2: harbour
           IF RATE-DISTRICT = 114 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 1966
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1965/3: hills
           IF RATE-DISTRICT = 115 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 1966
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1965/4: moor
           IF RATE-DISTRICT = 116 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 1966
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1966/1: mills
           IF RATE-DISTRICT = 117 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 1967
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1966/2: station
           IF RATE-DISTRICT = 118 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 1967
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1966/3: meadows
           IF RATE-DISTRICT = 119 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 1967
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1966/4: ferry
           IF RATE-DISTRICT = 120 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 1967
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1967/1: north bank
           IF RATE-DISTRICT = 121 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 1968
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1967/2: south bank
           IF RATE-DISTRICT = 122 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 1968
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1967/3: old town
           IF RATE-DISTRICT = 123 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 1968
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1967/4: harbour
           IF RATE-DISTRICT = 124 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 1968
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1968/1: hills
           IF RATE-DISTRICT = 125 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 1969
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1968/2: moor
           IF RATE-DISTRICT = 126 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 1969
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1968/3: mills
           IF RATE-DISTRICT = 127 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 1969
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1968/4: station
           IF RATE-DISTRICT = 128 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 1969
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1969/1: meadows
           IF RATE-DISTRICT = 129 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 1970
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1969/2: ferry
           IF RATE-DISTRICT = 130 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 1970
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1969/3: north bank
           IF RATE-DISTRICT = 131 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 1970
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1969/4: south bank
           IF RATE-DISTRICT = 132 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 1970
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1970/1: old town
           IF RATE-DISTRICT = 133 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 1971
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1970/2: harbour
           IF RATE-DISTRICT = 134 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 1971
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1970/3: hills
           IF RATE-DISTRICT = 135 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 1971
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1970/4: moor
           IF RATE-DISTRICT = 136 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 1971
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1971/1: mills
           IF RATE-DISTRICT = 137 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 1972
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1971/2: station
           IF RATE-DISTRICT = 138 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 1972
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1971/3: meadows
           IF RATE-DISTRICT = 139 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 1972
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1971/4: ferry
           IF RATE-DISTRICT = 140 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 1972
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1972/1: north bank
           IF RATE-DISTRICT = 141 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 1973
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1972/2: south bank
           IF RATE-DISTRICT = 142 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 1973
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1972/3: old town
           IF RATE-DISTRICT = 143 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 1973
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1972/4: harbour
           IF RATE-DISTRICT = 144 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 1973
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1973/1: hills
           IF RATE-DISTRICT = 145 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 1974
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1973/2: moor
           IF RATE-DISTRICT = 146 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 1974
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1973/3: mills
           IF RATE-DISTRICT = 147 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 1974
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1973/4: station
           IF RATE-DISTRICT = 148 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 1974
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1974/1: meadows
           IF RATE-DISTRICT = 149 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 1975
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1974/2: ferry
           IF RATE-DISTRICT = 150 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 1975
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1974/3: north bank
           IF RATE-DISTRICT = 151 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 1975
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1974/4: south bank
           IF RATE-DISTRICT = 152 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 1975
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1975/1: old town
           IF RATE-DISTRICT = 153 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 1976
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1975/2: harbour
           IF RATE-DISTRICT = 154 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 1976
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1975/3: hills
           IF RATE-DISTRICT = 155 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 1976
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1975/4: moor
           IF RATE-DISTRICT = 156 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 1976
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1976/1: mills
           IF RATE-DISTRICT = 157 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 1977
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1976/2: station
           IF RATE-DISTRICT = 158 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 1977
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1976/3: meadows
           IF RATE-DISTRICT = 159 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 1977
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1976/4: ferry
           IF RATE-DISTRICT = 160 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 1977
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1977/1: north bank
           IF RATE-DISTRICT = 161 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 1978
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1977/2: south bank
           IF RATE-DISTRICT = 162 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 1978
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1977/3: old town
           IF RATE-DISTRICT = 163 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 1978
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1977/4: harbour
           IF RATE-DISTRICT = 164 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 1978
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1978/1: hills
           IF RATE-DISTRICT = 165 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 1979
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1978/2: moor
           IF RATE-DISTRICT = 166 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 1979
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1978/3: mills
           IF RATE-DISTRICT = 167 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 1979
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1978/4: station
           IF RATE-DISTRICT = 168 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 1979
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1979/1: meadows
           IF RATE-DISTRICT = 169 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 1980
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1979/2: ferry
           IF RATE-DISTRICT = 170 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 1980
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1979/3: north bank
           IF RATE-DISTRICT = 171 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 1980
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1979/4: south bank
           IF RATE-DISTRICT = 172 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 1980
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1980/1: old town
           IF RATE-DISTRICT = 173 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 1981
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1980/2: harbour
           IF RATE-DISTRICT = 174 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 1981
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1980/3: hills
           IF RATE-DISTRICT = 175 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 1981
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1980/4: moor
           IF RATE-DISTRICT = 176 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 1981
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1981/1: mills
           IF RATE-DISTRICT = 177 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 1982
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1981/2: station
           IF RATE-DISTRICT = 178 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 1982
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1981/3: meadows
           IF RATE-DISTRICT = 179 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 1982
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1981/4: ferry
           IF RATE-DISTRICT = 180 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 1982
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1982/1: north bank
           IF RATE-DISTRICT = 181 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 1983
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1982/2: south bank
           IF RATE-DISTRICT = 182 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 1983
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1982/3: old town
           IF RATE-DISTRICT = 183 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 1983
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1982/4: harbour
           IF RATE-DISTRICT = 184 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 1983
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1983/1: hills
           IF RATE-DISTRICT = 185 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 1984
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1983/2: moor
           IF RATE-DISTRICT = 186 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 1984
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1983/3: mills
           IF RATE-DISTRICT = 187 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 1984
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1983/4: station
           IF RATE-DISTRICT = 188 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 1984
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1984/1: meadows
           IF RATE-DISTRICT = 189 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 1985
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1984/2: ferry
           IF RATE-DISTRICT = 190 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 1985
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1984/3: north bank
           IF RATE-DISTRICT = 191 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 1985
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1984/4: south bank
           IF RATE-DISTRICT = 192 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 1985
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1985/1: old town
           IF RATE-DISTRICT = 193 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 1986
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1985/2: harbour
           IF RATE-DISTRICT = 194 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 1986
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1985/3: hills
           IF RATE-DISTRICT = 195 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 1986
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1985/4: moor
           IF RATE-DISTRICT = 196 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 1986
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1986/1: mills
           IF RATE-DISTRICT = 197 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 1987
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1986/2: station
           IF RATE-DISTRICT = 198 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 1987
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1986/3: meadows
           IF RATE-DISTRICT = 199 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 1987
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1986/4: ferry
           IF RATE-DISTRICT = 200 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 1987
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1987/1: north bank
           IF RATE-DISTRICT = 201 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 1988
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1987/2: south bank
           IF RATE-DISTRICT = 202 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 1988
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1987/3: old town
           IF RATE-DISTRICT = 203 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 1988
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1987/4: harbour
           IF RATE-DISTRICT = 204 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 1988
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1988/1: hills
           IF RATE-DISTRICT = 205 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 1989
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1988/2: moor
           IF RATE-DISTRICT = 206 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 1989
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1988/3: mills
           IF RATE-DISTRICT = 207 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 1989
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1988/4: station
           IF RATE-DISTRICT = 208 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 1989
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1989/1: meadows
           IF RATE-DISTRICT = 209 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 1990
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1989/2: ferry
           IF RATE-DISTRICT = 210 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 1990
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1989/3: north bank
           IF RATE-DISTRICT = 211 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 1990
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1989/4: south bank
           IF RATE-DISTRICT = 212 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 1990
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1990/1: old town
           IF RATE-DISTRICT = 213 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 1991
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1990/2: harbour
           IF RATE-DISTRICT = 214 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 1991
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1990/3: hills
           IF RATE-DISTRICT = 215 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 1991
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1990/4: moor
           IF RATE-DISTRICT = 216 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 1991
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1991/1: mills
           IF RATE-DISTRICT = 217 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 1992
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1991/2: station
           IF RATE-DISTRICT = 218 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 1992
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1991/3: meadows
           IF RATE-DISTRICT = 219 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 1992
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1991/4: ferry
           IF RATE-DISTRICT = 220 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 1992
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1992/1: north bank
           IF RATE-DISTRICT = 221 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 1993
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1992/2: south bank
           IF RATE-DISTRICT = 222 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 1993
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1992/3: old town
           IF RATE-DISTRICT = 223 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 1993
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1992/4: harbour
           IF RATE-DISTRICT = 224 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 1993
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1993/1: hills
           IF RATE-DISTRICT = 225 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 1994
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1993/2: moor
           IF RATE-DISTRICT = 226 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 1994
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1993/3: mills
           IF RATE-DISTRICT = 227 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 1994
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1993/4: station
           IF RATE-DISTRICT = 228 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 1994
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1994/1: meadows
           IF RATE-DISTRICT = 229 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 1995
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1994/2: ferry
           IF RATE-DISTRICT = 230 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 1995
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1994/3: north bank
           IF RATE-DISTRICT = 231 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 1995
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1994/4: south bank
           IF RATE-DISTRICT = 232 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 1995
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1995/1: old town
           IF RATE-DISTRICT = 233 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 1996
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1995/2: harbour
           IF RATE-DISTRICT = 234 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 1996
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1995/3: hills
           IF RATE-DISTRICT = 235 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 1996
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1995/4: moor
           IF RATE-DISTRICT = 236 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 1996
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1996/1: mills
           IF RATE-DISTRICT = 237 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 1997
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1996/2: station
           IF RATE-DISTRICT = 238 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 1997
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1996/3: meadows
           IF RATE-DISTRICT = 239 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 1997
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1996/4: ferry
           IF RATE-DISTRICT = 240 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 1997
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1997/1: north bank
           IF RATE-DISTRICT = 241 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 1998
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1997/2: south bank
           IF RATE-DISTRICT = 242 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 1998
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1997/3: old town
           IF RATE-DISTRICT = 243 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 1998
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1997/4: harbour
           IF RATE-DISTRICT = 244 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 1998
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1998/1: hills
           IF RATE-DISTRICT = 245 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 1999
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1998/2: moor
           IF RATE-DISTRICT = 246 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 1999
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1998/3: mills
           IF RATE-DISTRICT = 247 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 1999
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1998/4: station
           IF RATE-DISTRICT = 248 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 1999
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1999/1: meadows
           IF RATE-DISTRICT = 249 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 2000
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1999/2: ferry
           IF RATE-DISTRICT = 250 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 2000
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1999/3: north bank
           IF RATE-DISTRICT = 251 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 2000
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 1999/4: south bank
           IF RATE-DISTRICT = 252 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 2000
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2000/1: old town
           IF RATE-DISTRICT = 253 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 2001
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2000/2: harbour
           IF RATE-DISTRICT = 254 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 2001
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2000/3: hills
           IF RATE-DISTRICT = 255 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 2001
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2000/4: moor
           IF RATE-DISTRICT = 256 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 2001
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2001/1: mills
           IF RATE-DISTRICT = 257 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 2002
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2001/2: station
           IF RATE-DISTRICT = 258 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 2002
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2001/3: meadows
           IF RATE-DISTRICT = 259 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 2002
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2001/4: ferry
           IF RATE-DISTRICT = 260 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 2002
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2002/1: north bank
           IF RATE-DISTRICT = 261 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 2003
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2002/2: south bank
           IF RATE-DISTRICT = 262 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 2003
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2002/3: old town
           IF RATE-DISTRICT = 263 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 2003
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2002/4: harbour
           IF RATE-DISTRICT = 264 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 2003
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2003/1: hills
           IF RATE-DISTRICT = 265 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 2004
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2003/2: moor
           IF RATE-DISTRICT = 266 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 2004
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2003/3: mills
           IF RATE-DISTRICT = 267 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 2004
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2003/4: station
           IF RATE-DISTRICT = 268 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 2004
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2004/1: meadows
           IF RATE-DISTRICT = 269 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 2005
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2004/2: ferry
           IF RATE-DISTRICT = 270 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 2005
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2004/3: north bank
           IF RATE-DISTRICT = 271 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 2005
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2004/4: south bank
           IF RATE-DISTRICT = 272 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 2005
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2005/1: old town
           IF RATE-DISTRICT = 273 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 2006
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2005/2: harbour
           IF RATE-DISTRICT = 274 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 2006
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2005/3: hills
           IF RATE-DISTRICT = 275 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 2006
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2005/4: moor
           IF RATE-DISTRICT = 276 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 2006
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2006/1: mills
           IF RATE-DISTRICT = 277 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 2007
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2006/2: station
           IF RATE-DISTRICT = 278 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 2007
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2006/3: meadows
           IF RATE-DISTRICT = 279 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 2007
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2006/4: ferry
           IF RATE-DISTRICT = 280 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 2007
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2007/1: north bank
           IF RATE-DISTRICT = 281 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 2008
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2007/2: south bank
           IF RATE-DISTRICT = 282 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 2008
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2007/3: old town
           IF RATE-DISTRICT = 283 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 2008
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2007/4: harbour
           IF RATE-DISTRICT = 284 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 2008
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2008/1: hills
           IF RATE-DISTRICT = 285 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 2009
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2008/2: moor
           IF RATE-DISTRICT = 286 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 2009
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2008/3: mills
           IF RATE-DISTRICT = 287 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 2009
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2008/4: station
           IF RATE-DISTRICT = 288 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 2009
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2009/1: meadows
           IF RATE-DISTRICT = 289 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 2010
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2009/2: ferry
           IF RATE-DISTRICT = 290 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 2010
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2009/3: north bank
           IF RATE-DISTRICT = 291 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 2010
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2009/4: south bank
           IF RATE-DISTRICT = 292 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 2010
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2010/1: old town
           IF RATE-DISTRICT = 293 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 2011
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2010/2: harbour
           IF RATE-DISTRICT = 294 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 2011
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2010/3: hills
           IF RATE-DISTRICT = 295 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 2011
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2010/4: moor
           IF RATE-DISTRICT = 296 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 2011
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2011/1: mills
           IF RATE-DISTRICT = 297 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 2012
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2011/2: station
           IF RATE-DISTRICT = 298 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 2012
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2011/3: meadows
           IF RATE-DISTRICT = 299 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 2012
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2011/4: ferry
           IF RATE-DISTRICT = 300 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 2012
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2012/1: north bank
           IF RATE-DISTRICT = 301 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 2013
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2012/2: south bank
           IF RATE-DISTRICT = 302 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 2013
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2012/3: old town
           IF RATE-DISTRICT = 303 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 2013
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2012/4: harbour
           IF RATE-DISTRICT = 304 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 2013
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2013/1: hills
           IF RATE-DISTRICT = 305 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 2014
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2013/2: moor
           IF RATE-DISTRICT = 306 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 2014
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2013/3: mills
           IF RATE-DISTRICT = 307 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 2014
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2013/4: station
           IF RATE-DISTRICT = 308 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 2014
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2014/1: meadows
           IF RATE-DISTRICT = 309 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 2015
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2014/2: ferry
           IF RATE-DISTRICT = 310 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 2015
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2014/3: north bank
           IF RATE-DISTRICT = 311 AND RATE-CLASS = 'H1'
               IF WS-YEAR > 2015
                   COMPUTE RATE-NET = RATE-NET * 0.90
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2014/4: south bank
           IF RATE-DISTRICT = 312 AND RATE-CLASS = 'H2'
               IF WS-YEAR > 2015
                   COMPUTE RATE-NET = RATE-NET * 0.91
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2015/1: old town
           IF RATE-DISTRICT = 313 AND RATE-CLASS = 'T1'
               IF WS-YEAR > 2016
                   COMPUTE RATE-NET = RATE-NET * 0.92
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2015/2: harbour
           IF RATE-DISTRICT = 314 AND RATE-CLASS = 'T2'
               IF WS-YEAR > 2016
                   COMPUTE RATE-NET = RATE-NET * 0.93
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2015/3: hills
           IF RATE-DISTRICT = 315 AND RATE-CLASS = 'A1'
               IF WS-YEAR > 2016
                   COMPUTE RATE-NET = RATE-NET * 0.94
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2015/4: moor
           IF RATE-DISTRICT = 316 AND RATE-CLASS = 'P1'
               IF WS-YEAR > 2016
                   COMPUTE RATE-NET = RATE-NET * 0.95
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2016/1: mills
           IF RATE-DISTRICT = 317 AND RATE-CLASS = 'P2'
               IF WS-YEAR > 2017
                   COMPUTE RATE-NET = RATE-NET * 0.96
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2016/2: station
           IF RATE-DISTRICT = 318 AND RATE-CLASS = 'P3'
               IF WS-YEAR > 2017
                   COMPUTE RATE-NET = RATE-NET * 0.97
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2016/3: meadows
           IF RATE-DISTRICT = 319 AND RATE-CLASS = 'P4'
               IF WS-YEAR > 2017
                   COMPUTE RATE-NET = RATE-NET * 0.98
               END-IF
               ADD 1 TO WS-RELIEFS.
      * Decree 2016/4: ferry
           IF RATE-DISTRICT = 320 AND RATE-CLASS = 'N1'
               IF WS-YEAR > 2017
                   COMPUTE RATE-NET = RATE-NET * 0.99
               END-IF
               ADD 1 TO WS-RELIEFS.
       RELIEF-EXIT.
           EXIT.
       END PROGRAM MWRATE.
