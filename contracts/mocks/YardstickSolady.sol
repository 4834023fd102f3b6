// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";
import {ERC721} from "solady/src/tokens/ERC721.sol";

/// @title YardstickSolady
/// @notice An ERC721 collection built with Solady, which is written in assembly. A reference for the gas table.
contract YardstickSolady is ERC721, Ownable {
    uint256 public totalMinted;
    string private _name;
    string private _symbol;
    string private _base;

    constructor(string memory name_, string memory symbol_, string memory base) Ownable(msg.sender) {
        _name = name_;
        _symbol = symbol_;
        _base = base;
    }

    function mint(address to) external onlyOwner {
        _safeMint(to, ++totalMinted);
    }

    function name() public view override returns (string memory) {
        return _name;
    }

    function symbol() public view override returns (string memory) {
        return _symbol;
    }

    function tokenURI(uint256 id) public view override returns (string memory) {
        if (!_exists(id)) revert TokenDoesNotExist();
        return string.concat(_base, Strings.toString(id));
    }
}
