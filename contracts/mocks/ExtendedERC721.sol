// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721URIStorage} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721URIStorage.sol";

import {Extensions} from "./Extensions.sol";

/// @title ExtendedERC721
/// @notice The mint of Manifold's ERC721Creator, for tests of mints into adopted contracts.
contract ExtendedERC721 is ERC721URIStorage, Extensions {
    uint256 private _count = 0;

    constructor(address admin) ERC721("Extended", "EXT") Ownable(admin) {}

    function mintExtension(address to, string calldata uri) external onlyExtension returns (uint256) {
        ++_count;
        _safeMint(to, _count);
        _setTokenURI(_count, uri);
        return _count;
    }
}
