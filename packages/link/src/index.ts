export {
  CertificateUnusable,
  type Identity,
  issueCertificate,
  newAuthority,
} from "./certificates.js";
export { clientKeyOf } from "./client-key.js";
export { FrameDecoder, FrameEncoder, FrameRefused } from "./codec.js";
export type { CoreAccess, CoreAnswer, LeadEvents, OnNotes } from "./core-access.js";
export {
  CoreLink,
  type CoreLinkOptions,
  LATER,
  type NotesInMaking,
  notesOf,
  type Reply,
  type RequestHandlers,
} from "./core-link.js";
export { CoreRouter, type RoutedCore, type RouterEvents } from "./core-router.js";
export { EdgeLink, type SentBefore } from "./edge-link.js";
export {
  type AnswerBodies,
  type CoreNotice,
  type EdgeNotice,
  isReadName,
  type LinkRefusal,
  type Notes,
  type NoticeBodies,
  type NoticeHandlers,
  type RequestBodies,
  type RequestName,
  type RequestTerms,
} from "./frames.js";
export { KnownAddresses } from "./known-addresses.js";
export { type Levels, PUBLISHED_LEVELS, PublishedSide } from "./published-side.js";
export { type ReadinessProbe, refuseUnready } from "./readiness.js";
export { errorOf, refusalOf } from "./refusal.js";
export { RequestClock } from "./request-terms.js";
export { MAX_TRADES, type PrivateUpdate } from "./stream-frames.js";
export {
  type CoreAddress,
  connectToRemoteCore,
  type LinkIdentity,
  listenForRemoteEdges,
  type RemoteEdge,
  secureContextOf,
  type TlsListener,
} from "./tls-socket.js";
export {
  type LinkTransport,
  type MemoryOptions,
  memoryTransport,
  type Receiver,
} from "./transport.js";
export { type Connect, connectToCore, type EdgeListener, listenForEdges } from "./unix-socket.js";
