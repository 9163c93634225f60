/** `0x1234…abcd`: enough of an address or a hash to know it again. */
export function shortHex(hex: string): string {
  return hex.length <= 12 ? hex : `${hex.slice(0, 6)}…${hex.slice(-4)}`;
}
