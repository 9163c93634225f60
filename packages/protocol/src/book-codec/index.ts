/** Packed book sides, the book's checksum, and a mirror that keeps a book in step with its stream. */

export * from "./book-messages.js";
export { BookMirror, type MirrorVerdict, type ResubscribeReason } from "./book-mirror.js";
export { BookChecksum, mix32 } from "./checksum.js";
export { decodeSide } from "./decode-side.js";
export { encodeSide } from "./encode-side.js";
export { BookCodecError, type BookSide, type Level, MAX_LEVELS } from "./layout.js";
