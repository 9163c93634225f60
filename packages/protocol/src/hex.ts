/** Hex text to bytes and back, `0x` optional on the way in. Runs in a browser too. */

export function isHex(text: string): boolean {
  return /^(?:[0-9a-fA-F]{2})*$/.test(text);
}

export function withoutHexPrefix(text: string): string {
  return text.startsWith("0x") || text.startsWith("0X") ? text.slice(2) : text;
}

/** The bytes, or undefined where the text is not an even run of hex digits. */
export function bytesFromHex(text: string): Uint8Array | undefined {
  const digits = withoutHexPrefix(text);
  if (!isHex(digits)) return undefined;
  const bytes = new Uint8Array(digits.length / 2);
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16);
  }
  return bytes;
}

export function hexFromBytes(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}
