import { expect } from "chai";

import { isPublicAddress, mayConnect } from "../../../api/outbound/addresses.ts";

const PUBLIC = [
  ...["8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1", "192.167.1.1"],
  ...["2606:4700:4700::1111", "2a00:1450:4001:81b::200e"],
];

const NOT_PUBLIC = [
  // This machine, private networks, the link, cloud metadata, and carrier NAT.
  ...["127.0.0.1", "127.255.255.254", "::1", "0.0.0.0", "0.1.2.3", "::"],
  ...["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12:3456::1"],
  ...["169.254.1.1", "fe80::1", "fe80::1%eth0", "100.64.0.1", "100.127.255.255"],
  ...["169.254.169.254", "168.63.129.16", "fd00:ec2::254", "100.100.100.200"],
  // IPv4 inside IPv6, NAT64, 6to4, and Teredo.
  ...["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::ffff:7f00:1", "::127.0.0.1"],
  ...["64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:a00:1::1"],
  ...["2001::1", "2001:0:7f00:1::1"],
  // Documentation, benchmarks, multicast, broadcast, reserved.
  ...["192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "2001:db8::1", "2001:2::1"],
  ...["224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.0.1", "ff02::1", "100::1", "5f00::1", "4000::1"],
  // No addresses.
  ...["", "example.com", "999.1.1.1", "8.8.8.8.8", "8.8.8.8 "],
];

describe("isPublicAddress", () => {
  it("accepts those of the internet, and refuses all others", () => {
    expect(PUBLIC.filter((address) => !isPublicAddress(address))).to.deep.equal([]);
    expect(NOT_PUBLIC.filter(isPublicAddress)).to.deep.equal([]);
  });
});

describe("mayConnect", () => {
  const policy = { allowedHosts: new Set(["hooks.internal", "10.1.1.1"]), allowLoopback: false };

  it("exempts only the configured hosts, in any case", () => {
    expect(mayConnect("Hooks.Internal", "10.0.0.1", policy)).to.equal(true);
    expect(mayConnect("10.1.1.1", "10.1.1.1", policy)).to.equal(true);
    expect(mayConnect("other.internal", "10.0.0.1", policy)).to.equal(false);
    expect(mayConnect("sub.hooks.internal", "10.0.0.1", policy)).to.equal(false);
  });

  it("exempts every form of loopback, and nothing else, on a local chain", () => {
    const local = { ...policy, allowLoopback: true };
    for (const address of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"]) {
      expect(mayConnect("x", address, local), address).to.equal(true);
      expect(mayConnect("x", address, policy), address).to.equal(false);
    }
    for (const address of ["10.0.0.1", "169.254.169.254", "0.0.0.0", "::"]) {
      expect(mayConnect("x", address, local), address).to.equal(false);
    }
  });
});
