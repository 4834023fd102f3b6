// Loaded before a program: prints a line for each network connection that the program opens, and for each socket for datagrams.
import { Socket as Datagrams } from "node:dgram";
import { Socket } from "node:net";

const { connect } = Socket.prototype;
// Every library opens its connections with this function.
Socket.prototype.connect = function (...args) {
  const [first] = args.flat();
  // A path is a pipe on this machine: the TypeScript loader has one.
  if (first?.path == null) console.error(`connects to ${first?.host}:${first?.port}.`);
  return connect.apply(this, args);
};
const { bind } = Datagrams.prototype;
// Peer-to-peer nodes find each other with datagrams.
Datagrams.prototype.bind = function (...args) {
  console.error("connects to datagrams.");
  return bind.apply(this, args);
};
