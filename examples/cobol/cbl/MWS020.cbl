       >>SOURCE FORMAT IS FREE
*> Millwater: reads the tariff list of the regulator (a text file) on the
*> office server. GnuCOBOL, free format, names in lower case.
identification division.
function-id. trimmed_price.
data division.
linkage section.
01 price_text pic x(12).
01 price pic s9(5)v9(4).
procedure division using price_text returning price.
    compute price = function numval(price_text).
    goback.
end function trimmed_price.

identification division.
program-id. mws020.
environment division.
configuration section.
repository. function trimmed_price function all intrinsic.
input-output section.
file-control.
    select tariff_list assign to "tariffs.txt" organization is line sequential
        file status is list_status.
data division.
file section.
fd tariff_list.
01 tariff_line pic x(80).
working-storage section.
01 list_status pic xx value "00".
    88 list_ok value "00".
    88 list_ended value "10".
01 Line_Count pic 9(5) value 0.
01 columns_of_line.
    03 class_code pic xx.
    03 from_m3 pic x(12).
    03 price_text pic x(12).
01 price_now pic s9(5)v9(4).
01 dearest pic s9(5)v9(4) value 0.
01 sub_name pic x(8) value "mws021".
procedure division.
main-section section.
    perform open-list
    perform read-line until list_ended
    close tariff_list
    display "tariff lines: " Line_Count " dearest: " dearest *> a comment. not a sentence end
    if Line_Count = 0
        call static "mws021" using list_status
    end-if
    call sub_name using list_status on exception continue end-call
    goback.
open-list section.
    open input tariff_list
    if not list_ok
        display "no tariff list: " list_status
        stop run
    end-if.
read-line section.
    perform varying Line_Count from Line_Count by 1 until list_ended
        read tariff_list at end exit perform end-read
        if tariff_line(1:1) = "#" exit perform cycle end-if
        unstring tariff_line delimited by ";" into class_code from_m3 price_text
            on overflow display "too many columns in line " Line_Count
        end-unstring
        move trimmed_price(price_text) to price_now
        if price_now > dearest
            move price_now to dearest
        end-if
    end-perform.
end program mws020.
