// Loaded before a program: prints a line for each network connection that the program opens, and for each socket for datagrams.
import { Socket as Datagrams } from "node:dgram";
import { Socket } from "node:net";

const { connect } = Socket.prototype;
// Every library opens its connections with this function.
Socket.prototype.connect = function (...args) {
  const [first, second] = args.flat();
  // Either an object with options, or a port and a host.
  const { path, host, port } = typeof first === "object" ? first : { port: first, host: second };
  // A path is a pipe on this machine: the TypeScript loader has one.
  if (path == null) console.error(`connects to ${host}:${port}.`);
  return connect.apply(this, args);
};
const { bind } = Datagrams.prototype;
// Peer-to-peer nodes find each other with datagrams.
Datagrams.prototype.bind = function (...args) {
  console.error("connects to datagrams.");
  return bind.apply(this, args);
};
