// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Consecutive} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Consecutive.sol";

/// @title WizardERC721
/// @notice A contract as teams deploy it, for tests of adoption: an owner, a base URI that the owner can change, and
/// tokens that its constructor gives away with one event (ERC-2309).
contract WizardERC721 is ERC721Consecutive, Ownable {
    uint256 public totalSupply;
    string private _base = "";

    /// @param size tokens that the owner has from the beginning, with the ids from 0 on.
    constructor(address owner, uint96 size) ERC721("Wizard 721", "W721") Ownable(owner) {
        if (size > 0) _mintConsecutive(owner, size);
        totalSupply = size;
    }

    function mint(address to, uint256 count) external onlyOwner {
        for (uint256 left = count; left > 0; --left) {
            _mint(to, totalSupply);
            ++totalSupply;
        }
    }

    /// @notice Mints so many tokens to each receiver, for tests with thousands of holders.
    function mintEach(address[] calldata receivers, uint256 count) external onlyOwner {
        uint256 id = totalSupply;
        for (uint256 index = 0; index < receivers.length; ++index) {
            for (uint256 left = count; left > 0; --left) {
                _mint(receivers[index], id);
                ++id;
            }
        }
        totalSupply = id;
    }

    /// @notice Whoever may transfer a token may burn it.
    function burn(uint256 id) external {
        _update(address(0), id, msg.sender);
    }

    function setBaseURI(string calldata base) external onlyOwner {
        _base = base;
    }

    function _baseURI() internal view override returns (string memory) {
        return _base;
    }
}
