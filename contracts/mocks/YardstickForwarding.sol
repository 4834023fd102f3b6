// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC2771Context} from "@openzeppelin/contracts/metatx/ERC2771Context.sol";
import {ERC2771Forwarder} from "@openzeppelin/contracts/metatx/ERC2771Forwarder.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {Context} from "@openzeppelin/contracts/utils/Context.sol";

/// @title YardstickForwarder
/// @notice OpenZeppelin's ERC-2771 forwarder, which moves tokens of wallets that have no gas. A reference for the gas
/// table.
contract YardstickForwarder is ERC2771Forwarder {
    constructor() ERC2771Forwarder("Forwarder") {}
}

/// @title YardstickForwardedERC721
/// @notice A token that trusts {YardstickForwarder}. A reference for the gas table.
contract YardstickForwardedERC721 is ERC721, ERC2771Context {
    constructor(address forwarder) ERC721("Forwarded", "FWD") ERC2771Context(forwarder) {}

    function mint(address to, uint256 id) external {
        _safeMint(to, id);
    }

    function _msgSender() internal view override(Context, ERC2771Context) returns (address) {
        return super._msgSender();
    }

    function _msgData() internal view override(Context, ERC2771Context) returns (bytes calldata) {
        return super._msgData();
    }

    function _contextSuffixLength() internal view override(Context, ERC2771Context) returns (uint256) {
        return super._contextSuffixLength();
    }
}
