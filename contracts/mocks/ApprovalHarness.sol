// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC721Collection} from "../ERC721Collection.sol";

/// @title ApprovalHarness
/// @notice An ERC721 collection whose internal function `_approve` everybody can call, with all its arguments.
contract ApprovalHarness is ERC721Collection {
    constructor(address relay_) ERC721Collection(relay_) {}

    function approveAs(address to, uint256 tokenId, address auth, bool emitEvent) external {
        _approve(to, tokenId, auth, emitEvent);
    }
}
