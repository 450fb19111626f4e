#include <stdio.h>

int main(void)
{
    puts("guessgym " GG_VERSION);
    return 0;
}
