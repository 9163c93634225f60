export { CertificateAuthority, type Identity } from "./certificates.js";
export { FaultProxy } from "./fault-proxy.js";
export { Lateness } from "./lateness.js";
export { Load, level } from "./load.js";
export { type Applied, LogGateway, MemoryMirror } from "./log-gateway.js";
export { isWithoutNatsServer, natsServerPath } from "./nats-binary.js";
export { type ClusterSettings, NatsCluster } from "./nats-cluster.js";
export { NatsServer, type ServerPorts } from "./nats-server.js";
export { type Damage, damageStream } from "./store-damage.js";
