/** A Hardhat node in a process of its own, on a free loopback port that it tells its parent. */

import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

process.env.HARDHAT_CONFIG = fileURLToPath(new URL("./hardhat.config.cjs", import.meta.url));
const require = createRequire(import.meta.url);
const { network } = require("hardhat");
const { JsonRpcServer } = require("hardhat/internal/hardhat-network/jsonrpc/server");

const server = new JsonRpcServer({ hostname: "127.0.0.1", port: 0, provider: network.provider });
const { port } = await server.listen();
process.send(port);
// The parent is gone: so is the need for a node.
process.on("disconnect", () => process.exit(0));
