export { FrameDecoder, FrameEncoder, FrameRefused } from "./codec.js";
export {
  CoreLink,
  type CoreLinkOptions,
  type NotesInMaking,
  type RequestHandlers,
} from "./core-link.js";
export { EdgeLink, type OnNotes } from "./edge-link.js";
export type {
  AnswerBodies,
  CoreNotice,
  EdgeNotice,
  Notes,
  NoticeBodies,
  NoticeHandlers,
  RequestBodies,
  RequestName,
} from "./frames.js";
export { type MemoryOptions, memoryTransport, type Receiver, type Transport } from "./transport.js";
export { connectToCore, type EdgeListener, listenForEdges } from "./unix-socket.js";
