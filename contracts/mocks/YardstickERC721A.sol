// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC721A} from "erc721a/contracts/ERC721A.sol";

/// @title YardstickERC721A
/// @notice An ERC721 collection built with ERC721A, which is optimized for minting many tokens to one holder. A
/// reference for the gas table.
contract YardstickERC721A is ERC721A, Ownable {
    string private _base;

    constructor(
        string memory name_,
        string memory symbol_,
        string memory base
    ) ERC721A(name_, symbol_) Ownable(msg.sender) {
        _base = base;
    }

    function mint(address to, uint256 quantity) external onlyOwner {
        _safeMint(to, quantity);
    }

    function _baseURI() internal view override returns (string memory) {
        return _base;
    }

    function _startTokenId() internal pure override returns (uint256) {
        return 1;
    }
}
