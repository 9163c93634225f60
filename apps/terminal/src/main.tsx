/** Entry point: connects to the gateway that served the page. */

import { PerpgateClient } from "@perpgate/sdk";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.js";
import { Terminal } from "./terminal.js";
import { startTheme } from "./theme/theme.js";
import { findInjectedWallets } from "./venue/injected-wallets.js";
import "./theme/tokens.css";
import "./theme/base.css";
import "./theme/controls.css";
import "./theme/layout.css";

const root = document.getElementById("root");
if (root === null) throw new Error("#root is missing");

startTheme();
findInjectedWallets();
const terminal = new Terminal(new PerpgateClient({ url: location.origin }));
terminal.start();
createRoot(root).render(
  <StrictMode>
    <App terminal={terminal} />
  </StrictMode>,
);
