/** Hex text to bytes and back; `0x` is optional in the input. */

export function isHex(text: string): boolean {
  return /^(?:[0-9a-fA-F]{2})*$/.test(text);
}

export function withoutHexPrefix(text: string): string {
  return text.startsWith("0x") || text.startsWith("0X") ? text.slice(2) : text;
}

/** The bytes; undefined if the text is not an even number of hex digits. */
export function bytesFromHex(text: string): Uint8Array | undefined {
  const digits = withoutHexPrefix(text);
  if (digits.length % 2 !== 0) return undefined;
  const bytes = new Uint8Array(digits.length / 2);
  for (let i = 0; i < bytes.length; i++) {
    const byte = 16 * digitOf(digits.charCodeAt(2 * i)) + digitOf(digits.charCodeAt(2 * i + 1));
    if (Number.isNaN(byte)) return undefined;
    bytes[i] = byte;
  }
  return bytes;
}

/** The value of a hex digit by its character code; NaN for any other character. */
function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}

export function hexFromBytes(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}
