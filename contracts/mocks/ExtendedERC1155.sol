// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC1155URIStorage} from "@openzeppelin/contracts/token/ERC1155/extensions/ERC1155URIStorage.sol";

import {Extensions} from "./Extensions.sol";

/// @title ExtendedERC1155
/// @notice The mint of Manifold's ERC1155Creator for one receiver, for tests of mints into adopted contracts: each
/// amount makes a token.
contract ExtendedERC1155 is ERC1155URIStorage, Extensions {
    uint256 private _count = 0;

    error InvalidInput();

    constructor(address admin) ERC1155("") Ownable(admin) {}

    function mintExtensionNew(
        address[] calldata to,
        uint256[] calldata amounts,
        string[] calldata uris
    ) external onlyExtension returns (uint256[] memory ids) {
        if (to.length != 1 || amounts.length != uris.length) revert InvalidInput();
        ids = new uint256[](amounts.length);
        for (uint256 i = 0; i < ids.length; ++i) {
            ids[i] = ++_count;
            _mint(to[0], ids[i], amounts[i], "");
            _setURI(ids[i], uris[i]);
        }
    }
}
