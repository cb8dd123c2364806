// The one function that Rust's std takes from this library, for versions of Wine that do not have it. Used by ci/windows.
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *data, SIZE_T size)
{
    return RtlGenRandom(data, (ULONG)size) != 0;
}
