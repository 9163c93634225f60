/** Rows of the history as bytes: little-endian doubles that hold safe integers. */

export function bytesOfWords(words: readonly number[] | Float64Array): Buffer {
  const bytes = Buffer.allocUnsafe(words.length * 8);
  for (let i = 0; i < words.length; i++) bytes.writeDoubleLE(words[i]!, i * 8);
  return bytes;
}

export function wordsOfBytes(bytes: Uint8Array): Float64Array {
  const words = new Float64Array(bytes.length / 8);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let i = 0; i < words.length; i++) words[i] = view.getFloat64(i * 8, true);
  return words;
}
