/** A Hardhat node on a free loopback port, which it sends to its parent process. */

import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

process.env.HARDHAT_CONFIG = fileURLToPath(new URL("./hardhat.config.cjs", import.meta.url));
const require = createRequire(import.meta.url);
const { network } = require("hardhat");
const { JsonRpcServer } = require("hardhat/internal/hardhat-network/jsonrpc/server");

const server = new JsonRpcServer({ hostname: "127.0.0.1", port: 0, provider: network.provider });
const { port } = await server.listen();
process.send(port);
// The parent has exited.
process.on("disconnect", () => process.exit(0));
